// Custom nodes: either ggml's threads share one, or the site's crew does and ggml sees a single task.
#include "kokoro/crew.h"
#include "kokoro/ops.h"

#include <algorithm>

namespace eliza::kokoro {
namespace {

constexpr int shares_per_thread = 2;  // so that a thread which lost its core holds back half as much

struct CrewNode {
    Crew *           crew;
    ggml_custom_op_t run;
    void *           data;
    int              shares;
};

void run_by_crew(ggml_tensor * dst, int, int, void * data) {
    const auto & node = *static_cast<const CrewNode *>(data);
    node.crew->run(node.shares, [&](int share, int shares) { node.run(dst, share, shares, node.data); });
}

}  // namespace

ggml_tensor * make_node(const Site & site, const NodeShape & shape, const std::vector<ggml_tensor *> & sources,
                        ggml_custom_op_t run, void * data) {
    int tasks = shape.most_tasks;
    if (site.crew != nullptr) {
        const int shares = site.crew->size() == 1 ? 1 : site.crew->size() * shares_per_thread;
        const int most   = shape.most_tasks == GGML_N_TASKS_MAX ? shares : std::min(shares, shape.most_tasks);
        data             = site.arena->add(CrewNode{site.crew, run, data, most});
        run              = run_by_crew;
        tasks            = 1;
    }
    std::vector<ggml_tensor *> args(sources);
    return ggml_custom_4d(site.context, shape.type, shape.ne0, shape.ne1, shape.ne2, 1, args.data(),
                          static_cast<int>(args.size()), run, tasks, data);
}

}  // namespace eliza::kokoro
