// Which tensors the runtime uses of a projector without asking whether they are there.
#pragma once

#include <functional>
#include <string>

namespace eliza::sight {

using HasTensor = std::function<bool(const std::string & name)>;

// The first tensor that a projector of this kind with so many layers lacks; empty when it has them all. Those that
// the runtime itself asks for at loading are not listed here.
std::string first_missing_tensor(const std::string & kind, int layers, const HasTensor & has);

}  // namespace eliza::sight
