#include "ops/image_prepare.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

namespace falcon::ops {
namespace {

TEST(ImagePrepare, NormalisesAndMirrors) {
  const at::Tensor images = at::randint(0, 256, {3, 4, 8, 3}, at::kByte);
  const at::Tensor flip = at::tensor({0, 1, 0}, at::kByte);
  const ImageNormalization normalization;
  const at::Tensor out = at::empty({3, 3, 4, 8}, at::TensorOptions().dtype(at::kDouble),
                                   at::MemoryFormat::ChannelsLast);
  prepare_images(images, flip, normalization, out);
  for (int n = 0; n < 3; ++n) {
    for (int c = 0; c < 3; ++c) {
      const auto channel = static_cast<std::size_t>(c);
      for (int w = 0; w < 8; ++w) {
        const int from = n == 1 ? 7 - w : w;
        const double byte = images[n][2][from][c].item<double>();
        const double expected = (byte / 255 - static_cast<double>(normalization.mean[channel])) /
                                static_cast<double>(normalization.stddev[channel]);
        EXPECT_NEAR(out[n][c][2][w].item<double>(), expected, 1e-12);
      }
    }
  }
}

TEST(ImagePrepare, WithoutCoinsNothingIsMirroredAndTheLayoutIsKept) {
  const at::Tensor images = at::randint(0, 256, {2, 4, 8, 3}, at::kByte);
  const at::Tensor plain = at::empty({2, 3, 4, 8}, at::kFloat);
  const at::Tensor last = at::empty({2, 3, 4, 8}, at::TensorOptions().dtype(at::kFloat),
                                    at::MemoryFormat::ChannelsLast);
  prepare_images(images, {}, {}, plain);
  prepare_images(images, at::tensor({0, 0}, at::kByte), {}, last);
  EXPECT_TRUE(plain.equal(last));
  EXPECT_TRUE(last.is_contiguous(at::MemoryFormat::ChannelsLast));
}

}  // namespace
}  // namespace falcon::ops
