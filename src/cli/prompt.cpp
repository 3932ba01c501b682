#include "cli/prompt.h"

#include <histedit.h>
#include <langinfo.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "data/text/text_file.h"
#include "report/terminal.h"

namespace dragoman::cli {
namespace {

constexpr int kLinesRemembered = 1000;
constexpr char kLiteral = '\1';  // encloses what moves no cursor, for the editor

// What the signal handler needs; one prompt a process.
bool has_prompt = false;
termios terminal_before{};

void leave_terminal(int signal) {
  tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
  const ssize_t ignored = ::write(STDOUT_FILENO, "\n", 1);
  static_cast<void>(ignored);
  _exit(128 + signal);
}

// The editor counts characters by the locale.
void use_utf8() {
  if (std::setlocale(LC_CTYPE, "") == nullptr || std::string_view(nl_langinfo(CODESET)) != "UTF-8") {
    std::setlocale(LC_CTYPE, "C.UTF-8");
  }
}

}  // namespace

class Prompt::Editor {
 public:
  explicit Editor(std::string text) : text_(std::move(text)) {
    use_utf8();
    editor_.reset(el_init("dragoman", stdin, stdout, stderr));
    history_.reset(history_init());
    base::check(editor_ != nullptr && history_ != nullptr, base::ErrorKind::kRuntime,
                "prompt: the terminal cannot be edited; set TERM, or use a pipe");
    HistEvent event;
    history(history_.get(), &event, H_SETSIZE, kLinesRemembered);
    history(history_.get(), &event, H_SETUNIQUE, 1);
    el_set(editor_.get(), EL_CLIENTDATA, this);
    el_set(editor_.get(), EL_PROMPT_ESC, &Editor::prompt_of, kLiteral);
    el_set(editor_.get(), EL_EDITOR, "emacs");
    el_set(editor_.get(), EL_HIST, history, history_.get());
    el_set(editor_.get(), EL_BIND, "^R", "em-inc-search-prev", nullptr);
    el_source(editor_.get(), nullptr);  // the user's ~/.editrc
  }

  bool next(std::string& line) {
    int bytes = 0;
    const char* typed = el_gets(editor_.get(), &bytes);
    if (typed == nullptr || bytes <= 0) {
      return false;
    }
    std::string_view text(typed, static_cast<size_t>(bytes));
    text = text.substr(0, text.find('\n'));
    line = data::clean_line(text).text;
    if (!line.empty()) {
      HistEvent event;
      history(history_.get(), &event, H_ENTER, line.c_str());
    }
    return true;
  }

 private:
  // Ends the process by a signal without leaving the terminal as the editor needs it.
  class LeaveOnSignal {
   public:
    LeaveOnSignal() {
      base::check_argument(!has_prompt, "prompt: the process has one already");
      has_prompt = true;
      tcgetattr(STDIN_FILENO, &terminal_before);
      struct sigaction leave {};
      leave.sa_handler = leave_terminal;
      sigemptyset(&leave.sa_mask);
      sigaction(SIGINT, &leave, &old_interrupt_);
      sigaction(SIGTERM, &leave, &old_terminate_);
    }
    ~LeaveOnSignal() {
      sigaction(SIGINT, &old_interrupt_, nullptr);
      sigaction(SIGTERM, &old_terminate_, nullptr);
      has_prompt = false;
    }
    LeaveOnSignal(const LeaveOnSignal&) = delete;
    LeaveOnSignal& operator=(const LeaveOnSignal&) = delete;

   private:
    struct sigaction old_interrupt_ {};
    struct sigaction old_terminate_ {};
  };

  struct End {
    void operator()(EditLine* editor) const { el_end(editor); }
    void operator()(History* lines) const { history_end(lines); }
  };

  static char* prompt_of(EditLine* editor) {
    void* self = nullptr;
    el_get(editor, EL_CLIENTDATA, &self);
    return static_cast<Editor*>(self)->text_.data();
  }

  LeaveOnSignal leave_;
  std::string text_;
  std::unique_ptr<History, End> history_;
  std::unique_ptr<EditLine, End> editor_;
};

Prompt::Prompt(std::string text) {
  if (report::shows_colors(STDOUT_FILENO)) {
    const std::string plain = report::colored("|", report::Color::kCyan, true);
    const size_t bar = plain.find('|');
    const std::string mark(1, kLiteral);
    text = mark + plain.substr(0, bar) + mark + text + mark + plain.substr(bar + 1) + mark;
  }
  editor_ = std::make_unique<Editor>(std::move(text));
}

Prompt::~Prompt() = default;

bool Prompt::next(std::string& line) {
  return editor_->next(line);
}

}  // namespace dragoman::cli
