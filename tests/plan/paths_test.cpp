// Where the files of a run lie.
#include "plan/paths.h"

#include <gtest/gtest.h>

#include "falconbench/errors.h"

namespace falcon::plan {
namespace {

TEST(DataFolder, StaysBelowTheStoragesMount) {
  SystemFile system;
  system.storage["fast"].mount = "/tmp";
  RunSpec spec;
  spec.storage = "fast";
  spec.data.path = "images";
  EXPECT_EQ(data_folder(spec, system), "/tmp/images");
  spec.data.path = "../etc";
  EXPECT_THROW(data_folder(spec, system), InputError);
  spec.data.path = "/etc";
  EXPECT_THROW(data_folder(spec, system), InputError);
  spec.storage = "localNVMe";
  EXPECT_THROW(data_folder(spec, system), Error);
}

TEST(FilePlan, WeightsAreRelativeToTheStorageAndMayLieElsewhere) {
  SystemFile system;
  system.storage["fast"].mount = "/tmp";
  RunSpec spec;
  EXPECT_EQ(file_plan(spec, system).init, "") << "random names no file";
  spec.init = "/else/w.safetensors";
  EXPECT_EQ(file_plan(spec, system).init, "/else/w.safetensors");
  spec.storage = "fast";
  EXPECT_EQ(file_plan(spec, system).init, "/else/w.safetensors");
  spec.init = "w.safetensors";
  EXPECT_EQ(file_plan(spec, system).init, "/tmp/w.safetensors");
  spec.storage = "localNVMe";
  EXPECT_THROW(file_plan(spec, system), Error);
}

TEST(FilePlan, CheckpointsAreOnTheStorage) {
  SystemFile system;
  system.storage["fast"].mount = "/tmp";
  RunSpec spec;
  spec.checkpoint.path = "/else/kept";
  spec.save_weights = "/else/w.safetensors";
  EXPECT_EQ(file_plan(spec, system).checkpoint, "/else/kept/checkpoint.safetensors");
  spec.storage = "fast";
  EXPECT_THROW(file_plan(spec, system), InputError) << "is outside the storage";
  spec.checkpoint.path = "kept";
  EXPECT_EQ(file_plan(spec, system).checkpoint, "/tmp/kept/checkpoint.safetensors");
  EXPECT_EQ(file_plan(spec, system).save_weights, "/else/w.safetensors");
  spec.checkpoint.resume = "kept/checkpoint.safetensors";
  EXPECT_EQ(file_plan(spec, system).resume, "/tmp/kept/checkpoint.safetensors");
  spec.checkpoint.resume = "/";  // a folder
  EXPECT_EQ(file_plan(spec, system).resume, "/checkpoint.safetensors");
}

}  // namespace
}  // namespace falcon::plan
