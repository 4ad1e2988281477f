// Long recordings are cut where they are quiet.
#include "asr/windows.h"

#include "check.h"

#include <algorithm>
#include <cmath>

namespace {

using Windows = std::vector<std::pair<size_t, size_t>>;

std::vector<float> tone(size_t count) {
    std::vector<float> samples(count);
    for (size_t i = 0; i < count; ++i) {
        samples[i] = 0.5f * std::sin(static_cast<float>(i) * 0.7f);
    }
    return samples;
}

void what_fits_stays_whole() {
    const auto samples = tone(1000);
    CHECK(eliza::asr::cut_windows(samples.data(), 0, 1000).empty());
    CHECK(eliza::asr::cut_windows(nullptr, 0, 1).empty());
    CHECK((eliza::asr::cut_windows(samples.data(), 1, 1000) == Windows{{0, 1}}));
    CHECK((eliza::asr::cut_windows(samples.data(), 1000, 1000) == Windows{{0, 1000}}));
    CHECK(eliza::asr::cut_windows(samples.data(), 1000, 999).size() == 2);
}

void a_pause_near_the_end_is_chosen() {
    auto samples = tone(40000);
    std::fill(samples.begin() + 17000, samples.begin() + 17500, 0.0f);
    std::fill(samples.begin() + 9000, samples.begin() + 12000, 0.0f);  // too early to be worth a cut
    const auto windows = eliza::asr::cut_windows(samples.data(), samples.size(), 20000);
    CHECK(windows.front().second > 17000 && windows.front().second < 17500);
}

// As hearing has it: half a minute, and the pause between two sentences.
void half_a_minute_ends_in_a_pause() {
    auto sound = tone(70 * 16000);
    std::fill(sound.begin() + 16000 * 26, sound.begin() + 16000 * 26 + 8000, 0.0f);
    const auto windows = eliza::asr::cut_windows(sound.data(), sound.size(), 480000);
    CHECK(windows.size() == 3);
    CHECK(windows[0].second >= 16000 * 26 + 1600 && windows[0].second <= 16000 * 26 + 8000 - 1600);
}

void windows_cover_everything_in_order(size_t most) {
    const auto samples = tone(12345);
    size_t     end     = 0;
    for (const auto & window : eliza::asr::cut_windows(samples.data(), samples.size(), most)) {
        CHECK(window.first == end && window.second > window.first && window.second - window.first <= most);
        end = window.second;
    }
    CHECK(end == samples.size());
}

void silence_is_cut_late() {
    const std::vector<float> samples(100000, 0.0f);
    CHECK(eliza::asr::cut_windows(samples.data(), samples.size(), 30000).size() == 4);
}

}  // namespace

int main() {
    what_fits_stays_whole();
    a_pause_near_the_end_is_chosen();
    half_a_minute_ends_in_a_pause();
    for (const size_t most : {1u, 2u, 3u, 4u, 5u, 9u, 10u, 100u, 6000u, 12344u}) {
        windows_cover_everything_in_order(most);
    }
    silence_is_cut_late();
    return 0;
}
