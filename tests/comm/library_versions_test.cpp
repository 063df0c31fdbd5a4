#include "comm/library_versions.h"

#include <filesystem>

#include <gtest/gtest.h>

namespace falcon::comm {
namespace {

TEST(LibraryVersions, LoadedAreTheOnesBuiltFor) {
  const auto libraries = library_versions();
  ASSERT_EQ(libraries.size(), 4U);
  for (const char* name : {"LibTorch", "CUDA", "cuDNN", "NCCL"}) {
    const LibraryVersion& library = libraries.at(name);
    ASSERT_TRUE(library.loaded.has_value()) << name << ": " << library.loaded.reason;
    EXPECT_EQ(*library.loaded, library.built) << name;
    EXPECT_TRUE(std::filesystem::exists(library.path)) << name << ": " << library.path;
  }
  EXPECT_NO_THROW(require_built_nccl());
}

}  // namespace
}  // namespace falcon::comm
