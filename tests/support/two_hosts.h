#pragma once

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "support/mpirun.h"

namespace dragoman::test_support {

/// Two network namespaces joined by a cable, as two machines for mpirun: names and networks of their own, no shared
/// memory between their ranks. Needs root and iproute2. Gone with the object, and all processes in them.
class TwoHosts {
 public:
  /// @param folder  for the command that stands for ssh
  explicit TwoHosts(const std::filesystem::path& folder) : agent_(folder / "agent.sh") {
    std::ofstream(agent_) << "#!/bin/sh\n# agent.sh HOST COMMAND...\nshift\nexec ip netns exec " << b_
                          << " unshare --uts sh -c 'hostname " << b_ << "; exec sh -c \"$*\"' sh \"$@\"\n";
    std::filesystem::permissions(agent_, std::filesystem::perms::owner_all);
    made_ = shell("ip netns add " + a_) && shell("ip netns add " + b_) &&
            shell("ip link add dga netns " + a_ + " type veth peer name dgb netns " + b_) &&
            shell("ip -n " + a_ + " addr add 10.77.0.1/24 dev dga") &&
            shell("ip -n " + b_ + " addr add 10.77.0.2/24 dev dgb") && shell("ip -n " + a_ + " link set dga up") &&
            shell("ip -n " + b_ + " link set dgb up") && shell("ip -n " + a_ + " link set lo up") &&
            shell("ip -n " + b_ + " link set lo up") && shell("unshare --uts true");
  }
  ~TwoHosts() {
    for (const std::string& host : {a_, b_}) {
      shell("ip netns pids " + host + " | xargs -r kill -9");
      shell("ip netns del " + host);
    }
  }
  TwoHosts(const TwoHosts&) = delete;
  TwoHosts& operator=(const TwoHosts&) = delete;

  bool made() const { return made_; }
  void pull_the_cable() const { shell("ip -n " + b_ + " link set dgb down"); }
  /// Processes of dragoman on both hosts.
  int programs() const {
    int count = 0;
    for (const std::string& host : {a_, b_}) {
      const std::string command =
          "for p in $(ip netns pids " + host + "); do cat /proc/$p/comm; done 2>/dev/null | grep -c dragoman";
      FILE* const output = ::popen(command.c_str(), "r");
      int here = 0;
      count += output != nullptr && std::fscanf(output, "%d", &here) == 1 ? here : 0;
      ::pclose(output);
    }
    return count;
  }
  /// What to start, beside the test, to have `words` run by one rank on each host.
  std::vector<std::string> command(const std::vector<std::string>& words) const {
    std::vector<std::string> all{"netns",
                                 "exec",
                                 a_,
                                 "unshare",
                                 "--uts",
                                 "sh",
                                 "-c",
                                 "hostname " + a_ + "; exec mpirun --mca plm_rsh_agent '" + agent_.string() +
                                     "' --host 10.77.0.1,10.77.0.2 -np 2 \"$@\"",
                                 "sh"};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }

 private:
  static bool shell(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

  std::filesystem::path agent_;
  std::string a_ = "dragoman-a" + std::to_string(::getpid());
  std::string b_ = "dragoman-b" + std::to_string(::getpid());
  bool made_ = false;
};

}  // namespace dragoman::test_support
