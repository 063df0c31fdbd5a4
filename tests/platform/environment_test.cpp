#include "platform/environment.h"

#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace falcon::platform {
namespace {

TEST(Environment, OnlyAllowListedVariablesAreShown) {
  const Environment shown = shown_environment({{"CUDA_VISIBLE_DEVICES", "0,1"},
                                               {"NCCL_DEBUG", "INFO"},
                                               {"OMP_NUM_THREADS", "4"},
                                               {"HOME", "/root"},
                                               {"AWS_SECRET_ACCESS_KEY", "x"},
                                               {"NCCL_AUTH_TOKEN", "x"}});
  EXPECT_EQ(shown, (Environment{{"CUDA_VISIBLE_DEVICES", "0,1"},
                                {"NCCL_DEBUG", "INFO"},
                                {"OMP_NUM_THREADS", "4"}}));
}

TEST(Environment, SecretsInShownVariablesAreHidden) {
  const std::string hidden = "(not shown: looks like a secret)";
  for (const char* secret :
       {"ghp_x1", "hf_abc", "http://user:pass@proxy:80/", "0123456789abcdef0123456789abcdef"}) {
    EXPECT_EQ(shown_environment({{"NCCL_CONF_FILE", secret}}).at("NCCL_CONF_FILE"), hidden)
        << secret;
  }
  for (const char* plain : {"GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", "eth0,eth1", "^docker0",
                            "expandable_segments:True", "tcp://10.0.0.1:29500", ""}) {
    EXPECT_FALSE(is_secret_like(plain)) << plain;
  }
}

TEST(Environment, OfThisProcess) {
  const test::WithVariable variable("NCCL_TEST_OF_FALCON", "a=b");
  EXPECT_EQ(process_environment().at("NCCL_TEST_OF_FALCON"), "a=b");
}

}  // namespace
}  // namespace falcon::platform
