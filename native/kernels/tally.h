// Counts checks and prints the closing line of a backend.
#pragma once

#include <cstdio>
#include <string>

class Tally {
  public:
    void check(bool is_right, const std::string & what) {
        ++all_;
        right_ += is_right ? 1 : 0;
        if (!is_right) {
            printf("FAIL %s\n", what.c_str());
        }
    }
    int close(const char * backend) const {
        printf("%s: %d/%d PASS\n", backend, right_, all_);
        return right_ == all_ && all_ > 0 ? 0 : 1;
    }

  private:
    int all_ = 0, right_ = 0;
};
