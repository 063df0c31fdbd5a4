#include "ops/fused_embedding.h"

#include <ATen/cuda/CUDAContext.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/csrc/autograd/custom_function.h>

#include "ops/cuda/embedding_kernels.h"

namespace falcon::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

cuda::TokenIds tokens_of(const at::Tensor& ids, const at::Tensor& type_ids, std::int64_t width) {
  return {ids.const_data_ptr<std::int32_t>(), type_ids.const_data_ptr<std::int32_t>(), ids.size(0),
          ids.size(1), width};
}

class FusedEmbedding : public torch::autograd::Function<FusedEmbedding> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& words,
                            const at::Tensor& types, const at::Tensor& positions,
                            const at::Tensor& ids, const at::Tensor& type_ids,
                            std::int64_t padding_index) {
    const c10::cuda::CUDAGuard guard(words.device());
    const at::Tensor sum = at::empty({ids.numel(), words.size(1)}, words.options());
    cuda::EmbeddingForward job;
    job.tokens = tokens_of(ids, type_ids, words.size(1));
    job.words = words.const_data_ptr<float>();
    job.types = types.const_data_ptr<float>();
    job.positions = positions.const_data_ptr<float>();
    job.sum = sum.mutable_data_ptr<float>();
    cuda::embedding_forward(job, at::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    context->save_for_backward({words, types, positions, ids, type_ids});
    context->saved_data["padding_index"] = padding_index;
    return sum;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &words = saved[0], &positions = saved[2], &ids = saved[3];
    const c10::cuda::CUDAGuard guard(words.device());
    const at::Tensor dsum = gradients[0].contiguous();
    const at::Tensor dtypes = at::empty_like(saved[1]), dpositions = at::empty_like(positions);
    const at::Tensor scratch = at::empty({ids.size(1), dtypes.numel()}, words.options());
    at::Tensor dwords;
    cuda::EmbeddingBackward job;
    job.tokens = tokens_of(ids, saved[4], words.size(1));
    job.dsum = dsum.const_data_ptr<float>();
    job.dtypes = dtypes.mutable_data_ptr<float>();
    job.dpositions = dpositions.mutable_data_ptr<float>();
    job.positions = positions.size(0);
    job.padding_index = context->saved_data["padding_index"].toInt();
    job.scratch = scratch.mutable_data_ptr<float>();
    if (ids.numel() <= cuda::kMaxEmbeddedTokens) {
      dwords = at::zeros_like(words);
      job.dwords = dwords.mutable_data_ptr<float>();
    } else {
      dwords = at::embedding_dense_backward(dsum, ids.flatten(), words.size(0), job.padding_index,
                                            /*scale_grad_by_freq=*/false);
    }
    cuda::embedding_backward(job, at::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return {dwords, dtypes, dpositions, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

bool is_taken(const at::Tensor& table) {
  return table.is_cuda() && table.scalar_type() == at::kFloat && table.is_contiguous();
}

}  // namespace

bool fused_embedding_applies(const EmbeddingTables& tables, const at::Tensor& ids) {
  return is_taken(tables.words) && is_taken(tables.types) && is_taken(tables.positions) &&
         tables.types.size(0) == cuda::kTokenTypes && ids.dim() == 2 && ids.numel() > 0 &&
         cuda::embedding_supported(tables.words.size(1));
}

at::Tensor fused_embedding(const EmbeddingTables& tables, const at::Tensor& ids,
                           const at::Tensor& type_ids) {
  return FusedEmbedding::apply(tables.words, tables.types, tables.positions,
                               ids.to(at::kInt).contiguous(), type_ids.to(at::kInt).contiguous(),
                               tables.padding_index);
}

}  // namespace falcon::ops
