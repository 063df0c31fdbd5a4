// The tree that gives a model's tensors their state_dict names. Not torch::nn: no hooks, no
// cloning, and its headers would cost 20 s a source file.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

namespace falcon::models {

enum class Role { kParameter, kBuffer };

/// A module owns tensors and refers to child modules, which are its members. state_dict order is
/// the order of registration: own parameters, own buffers, children. Modules stay where they are
/// made (children are referred to).
class Module {
 public:
  using Visitor = std::function<void(const std::string& name, const at::Tensor& tensor, Role role)>;

  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module() = default;

  /// Every tensor of the tree in state_dict order; names start with `prefix` (empty, or ending in a
  /// dot).
  void visit(const Visitor& visitor, const std::string& prefix = {}) const;

  /// Lets the operators of the tree use their fused GPU forms (the start value), or not.
  virtual void set_fused(bool fused);

 protected:
  /// The given tensor, made a leaf that requires grad. The caller keeps the returned handle as a
  /// member.
  at::Tensor add_parameter(std::string name, at::Tensor tensor);
  at::Tensor add_buffer(std::string name, at::Tensor tensor);
  /// name may hold dots (layer1.0): containers need no module of their own. REQUIRES: child lives
  /// as long as this.
  void add_child(std::string name, Module& child);

 private:
  struct Entry {
    std::string name;
    at::Tensor tensor;
    Role role;
  };
  std::vector<Entry> entries_;
  std::vector<std::pair<std::string, Module*>> children_;
};

}  // namespace falcon::models
