// Which chassis a run uses: by its GPUs and by its storage.
#include "plan/chassis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_host.h"

namespace falcon::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;

// Two GPUs in the host, one in chassis a, one in b, one in c, which nobody manages.
class ManagedChassis : public testing::Test {
 protected:
  ManagedChassis() {
    const std::vector<std::string> homes = {"", "", "a", "b", "c"};
    for (std::size_t i = 0; i < homes.size(); ++i) {
      SystemGpu& gpu = system_.gpus["g" + std::to_string(i)];
      gpu.uuid = "GPU-" + std::to_string(i);
      gpu.attach = homes[i].empty() ? "local" : "falcon";
      gpu.chassis = homes[i];
    }
    system_.chassis["a"].redfish = SystemRedfish{"https://a", "", ""};
    system_.chassis["b"].redfish = SystemRedfish{"https://b", "", ""};
    system_.chassis["c"];
    system_.storage["disk"].chassis = "b";
    system_.storage["own"];
  }
  std::map<std::string, SystemChassis> used(const std::vector<std::string>& gpus,
                                            const std::string& storage = "") {
    return managed_chassis(place({"", gpus}, {}, host_, system_), system_, storage);
  }

  const Host host_ = made_host(5);
  SystemFile system_;
};

TEST_F(ManagedChassis, ThoseOfTheGpusOfTheRun) {
  EXPECT_THAT(used({"g0", "g2"}), ElementsAre(Key("a")));
  EXPECT_THAT(used({"g2", "g3", "g4"}), ElementsAre(Key("a"), Key("b")));
  EXPECT_EQ(used({"g2"}).at("a").redfish->url, "https://a");
  EXPECT_THAT(used({"g0", "g1"}), IsEmpty());
}

TEST_F(ManagedChassis, ThatOfTheStorageOfTheRun) {
  EXPECT_THAT(used({"g0"}, "disk"), ElementsAre(Key("b")));
  EXPECT_THAT(used({"g0"}, "own"), IsEmpty());
}

TEST_F(ManagedChassis, NotThatOfAGpuThatOnlyPlaysOne) {
  system_.gpus["g2"].emulated = true;
  EXPECT_THAT(used({"g2", "g3"}), ElementsAre(Key("b")));
}

TEST_F(ManagedChassis, NoneForGpusThatTheSystemFileDoesNotName) {
  EXPECT_THAT(managed_chassis(place({"all", {}}, {}, host_, {}), {}, ""), IsEmpty());
}

}  // namespace
}  // namespace falcon::plan
