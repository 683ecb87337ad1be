// The port where rank 0 will listen.
#pragma once

#include "base/descriptor.h"

namespace tandem::launch {

// Holds a TCP port for rank 0's store for as long as it lives: the socket is bound, with SO_REUSEADDR, and does not
// listen. Linux then lets a socket with SO_REUSEADDR bind and listen on the same port (TCPStore's has it, in LibTorch
// and in Python's torch alike), while nobody is given the port as a free one: neither another launcher that asks for
// any port nor an outgoing connection. So there is no moment at which the port can be lost, and a rank that tries to
// connect before rank 0 listens cannot be connected to itself.
class PortReservation {
 public:
  // port 0: any free one. Throws Failure when somebody listens on it.
  explicit PortReservation(int port);
  int port() const { return port_; }

 private:
  Descriptor socket_;
  int port_;
};

}  // namespace tandem::launch
