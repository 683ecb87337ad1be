// A list through its members `before` and `after`, which changes nothing but them.
#pragma once

namespace tandem {

template <typename Node>
class LinkedList {
 public:
  Node* first() const { return first_; }
  Node* last() const { return last_; }

  void push_front(Node& node) {
    node.before = nullptr;
    node.after = first_;
    (first_ ? first_->before : last_) = &node;
    first_ = &node;
  }

  void remove(Node& node) {
    (node.before ? node.before->after : first_) = node.after;
    (node.after ? node.after->before : last_) = node.before;
  }

 private:
  Node* first_ = nullptr;
  Node* last_ = nullptr;
};

}  // namespace tandem
