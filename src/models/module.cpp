#include "models/module.h"

namespace falcon::models {

void Module::visit(const Visitor& visitor, const std::string& prefix) const {
  for (const Entry& entry : entries_) {
    visitor(prefix + entry.name, entry.tensor, entry.role);
  }
  for (const auto& [name, child] : children_) {
    child->visit(visitor, prefix + name + ".");
  }
}

void Module::set_fused(bool fused) {
  for (const auto& [name, child] : children_) {
    child->set_fused(fused);
  }
}

at::Tensor Module::add_parameter(std::string name, at::Tensor tensor) {
  tensor.requires_grad_(true);
  entries_.push_back({std::move(name), tensor, Role::kParameter});
  return tensor;
}

at::Tensor Module::add_buffer(std::string name, at::Tensor tensor) {
  entries_.push_back({std::move(name), tensor, Role::kBuffer});
  return tensor;
}

void Module::add_child(std::string name, Module& child) {
  children_.emplace_back(std::move(name), &child);
}

}  // namespace falcon::models
