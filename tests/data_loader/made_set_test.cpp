// One set that several processes are to make at once.
#include "data/made_set.h"

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "data_loader/picture_files.h"

namespace falcon::data {
namespace {

namespace fs = std::filesystem;

bool is_text(std::string_view name) {
  return name.ends_with(".txt");
}

const SetRecipe kRecipe{"text", "one file", is_text};

SetContent write_text(const fs::path& folder) {
  SetContent content;
  SetWriter(folder).write("a.txt", std::string_view("some text"), content);
  return content;
}

TEST(MadeSet, OneMakesItAndTheOtherWaits) {
  const test::TemporaryFolder folder;
  std::promise<void> begun, waited;
  std::atomic<int> written = 0;
  auto first = std::async(std::launch::async, [&] {
    return make_set(folder / "set", kRecipe, {}, [&](const fs::path& place) {
      ++written;
      begun.set_value();
      waited.get_future().wait();
      return write_text(place);
    });
  });
  begun.get_future().wait();
  int asked = 0;
  const MadeSet second = make_set(
      folder / "set", kRecipe,
      [&](std::int64_t done, std::int64_t total) {
        EXPECT_EQ(done + total, 0);
        if (++asked == 2) waited.set_value();
      },
      [&](const fs::path& place) {
        ++written;
        return write_text(place);
      });
  EXPECT_TRUE(first.get().made);
  EXPECT_FALSE(second.made);
  EXPECT_EQ(second.files, 1);
  EXPECT_EQ(written, 1);
  EXPECT_GE(asked, 2);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / ""), {}), 1) << "nothing is left beside";
}

TEST(MadeSet, WhoDoesNotWantToWaitLeavesTheOtherToItsWork) {
  const test::TemporaryFolder folder;
  std::promise<void> begun, left;
  auto first = std::async(std::launch::async, [&] {
    return make_set(folder / "set", kRecipe, {}, [&](const fs::path& place) {
      begun.set_value();
      left.get_future().wait();
      return write_text(place);
    });
  });
  begun.get_future().wait();
  const auto give_up = [](std::int64_t, std::int64_t) { throw std::runtime_error("deadline"); };
  EXPECT_THROW(make_set(folder / "set", kRecipe, give_up, write_text), std::runtime_error);
  left.set_value();
  EXPECT_TRUE(first.get().made);
}

TEST(MadeSet, WhatADeadOneLeftIsNoObstacle) {
  const test::TemporaryFolder folder;
  test::write_bytes(folder / "set.making", {});
  const auto wait = [](std::int64_t, std::int64_t) { throw std::runtime_error("it waits"); };
  EXPECT_TRUE(make_set(folder / "set", kRecipe, wait, write_text).made);
  EXPECT_FALSE(fs::exists(folder / "set.making"));
}

TEST(MadeSet, ATurnThatFailedIsTheNextOnes) {
  const test::TemporaryFolder folder;
  const auto fail = [](const fs::path&) -> SetContent { throw std::runtime_error("disk full"); };
  EXPECT_THROW(make_set(folder / "set", kRecipe, {}, fail), std::runtime_error);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / ""), {}), 0);
  EXPECT_TRUE(make_set(folder / "set", kRecipe, {}, write_text).made);
}

// As on a file system that does not lock files.
TEST(MadeSet, OfTwoThatMakeItAtOnceTheFirstCounts) {
  const test::TemporaryFolder folder;
  bool was_made_beside = false;
  const MadeSet second = make_set(folder / "set", kRecipe, {}, [&](const fs::path& place) {
    fs::remove(folder / "set.making");
    was_made_beside = make_set(folder / "set", kRecipe, {}, write_text).made;
    return write_text(place);
  });
  EXPECT_TRUE(was_made_beside);
  EXPECT_FALSE(second.made);
  EXPECT_EQ(second.files, 1);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / ""), {}), 1);
}

}  // namespace
}  // namespace falcon::data
