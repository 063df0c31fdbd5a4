// What NCCL's log says of transports, and that a process is told what the plan says.
#include "comm/nccl_log.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace falcon::comm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> texts(const std::vector<Transport>& transports) {
  std::vector<std::string> out;
  for (const Transport& one : transports) {
    out.push_back(std::to_string(one.from) + ">" + std::to_string(one.to) + " " + one.via + " x" +
                  std::to_string(one.channels));
  }
  return out;
}

// Lines as NCCL 2.28 and older ones write them; rings and other lines are no transports.
constexpr const char* kLog =
    "node:12:34 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>\n"
    "node:12:34 [0] NCCL INFO Channel 00/24 :    0   1   2\n"
    "node:12:34 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
    "node:12:34 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
    "node:12:34 [0] NCCL INFO Channel 00 : 0[1a000] -> 2[3d000] via SHM/direct/direct\n"
    "node:12:34 [0] NCCL INFO Channel 00/0 : 3[1] -> 0[0] [receive] via NET/Socket/0\n"
    "node:12:34 [0] NCCL INFO Channel 00/0 : 10[2] -> 0[0] via P2P/CUMEM/read comm 0x55 nRanks 11\n"
    "node:12:34 [0] NCCL INFO Connected all rings";

TEST(Transports, LinesOfOnePairAndTransportCountChannels) {
  EXPECT_THAT(texts(transports_in(kLog)),
              ElementsAre("0>1 P2P/CUMEM x2", "0>2 SHM/direct/direct x1", "3>0 NET/Socket/0 x1",
                          "10>0 P2P/CUMEM/read x1"));
  EXPECT_TRUE(transports_in("").empty());
  EXPECT_TRUE(transports_in("Channel 00/0 : x[0] -> 1[1] via P2P").empty());
}

void write_as_nccl_does(const std::string& text) {
  std::FILE* file = std::fopen(std::getenv("NCCL_DEBUG_FILE"), "w");
  ASSERT_NE(file, nullptr);
  std::fputs(text.c_str(), file);
  std::fclose(file);
}

std::string content_of(const char* variable) {
  std::string text;
  std::FILE* file = std::fopen(std::getenv(variable), "r");
  if (file == nullptr) return "cannot be opened";
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

class NcclLogTest : public testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"NCCL_DEBUG", "NCCL_DEBUG_FILE", "NCCL_TOPO_FILE", "NCCL_P2P_LEVEL"}) {
      unsetenv(name);
    }
  }
};

TEST_F(NcclLogTest, TheProcessIsToldWhatThePlanSaysAndItsLogIsRead) {
  const NcclLog log(NcclPlan{{{"NCCL_DEBUG", "INFO"}, {"NCCL_P2P_LEVEL", "PHB"}}, "<system/>\n"});
  EXPECT_STREQ(std::getenv("NCCL_P2P_LEVEL"), "PHB");
  EXPECT_EQ(content_of("NCCL_TOPO_FILE"), "<system/>\n");
  EXPECT_EQ(content_of("NCCL_TOPO_FILE"), "<system/>\n") << "each communicator reads it anew";
  EXPECT_THAT(log.transports().reason, HasSubstr("names no transport"));
  write_as_nccl_does(kLog);
  EXPECT_EQ(log.transports().value->size(), 4u);
}

TEST_F(NcclLogTest, ALogOfTheUsersIsLeftAlone) {
  setenv("NCCL_DEBUG_FILE", "/dev/null", 1);
  const NcclLog log(NcclPlan{});
  EXPECT_STREQ(std::getenv("NCCL_DEBUG_FILE"), "/dev/null");
  EXPECT_THAT(log.transports().reason, HasSubstr("NCCL_DEBUG_FILE"));
}

}  // namespace
}  // namespace falcon::comm
