// Glossaries as text and as files: what is refused, and what a restart, a kill and a second server find.
#include "serving/service/glossary_store.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "base/files.h"
#include "serving/http/http_message.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace dragoman::serving {
namespace {

using base::ErrorKind;
using testing::HasSubstr;
using Entries = std::vector<GlossaryEntry>;

const models::LanguagePair kPair{"en", "de"};

std::string refusal_of(const std::string& text, EntriesFormat format = EntriesFormat::kTsv) {
  try {
    static_cast<void>(parse_glossary_entries(text, format, kPair));
  } catch (const HttpError& error) {
    EXPECT_EQ(error.status(), 400);
    EXPECT_EQ(error.what(),
              error.detail().starts_with("Missing") ? std::string("Bad request") : "Invalid glossary entries provided");
    return error.detail();
  }
  return "taken";
}

// ---- entries

TEST(GlossaryEntries, AreLinesOfTwoPhrases) {
  const Entries expected = {{"Hello", "Guten Tag"}, {"a \"b\"", "ä, c"}};
  EXPECT_EQ(parse_glossary_entries("Hello\tGuten Tag\na \"b\"\tä, c", EntriesFormat::kTsv, kPair), expected);
  EXPECT_EQ(
      parse_glossary_entries("\xEF\xBB\xBF Hello \t Guten Tag\r\n\r\n \na \"b\"\tä, c\n", EntriesFormat::kTsv, kPair),
      expected)
      << "a mark, CR LF, blank lines and blanks";
  EXPECT_EQ(parse_glossary_entries("Hello,Guten Tag\n\"a \"\"b\"\"\",\"ä, c\"\n", EntriesFormat::kCsv, kPair),
            expected);
  EXPECT_EQ(parse_glossary_entries(tsv_of(expected), EntriesFormat::kTsv, kPair), expected);
  EXPECT_EQ(parse_glossary_entries("Hello\tGuten Tag\n \xEF\xBB\xBF\xEF\xBB\xBF a \"b\"\tä, c\xEF\xBB\xBF",
                                   EntriesFormat::kTsv, kPair),
            expected)
      << "marks where files were joined, which would be lost when the entries are written and read";
}

TEST(GlossaryEntries, OfACsvWithLanguagesOnlyThoseOfThePairCount) {
  EXPECT_EQ(parse_glossary_entries("a,b,EN,DE\nc,d,en,fr\ne,f,en-US,de-AT,0.5\ng,h,noun\n", EntriesFormat::kCsv, kPair),
            (Entries{{"a", "b"}, {"e", "f"}, {"g", "h"}}));
  EXPECT_EQ(refusal_of("a,b,en,fr\n", EntriesFormat::kCsv), "Missing or invalid argument: entries");
}

TEST(GlossaryEntries, RefusalsNameTheLineAndItsPlace) {
  const std::string second = "Key with the index 1 (starting at position 4) ";
  EXPECT_EQ(refusal_of(""), "Missing or invalid argument: entries");
  EXPECT_EQ(refusal_of("\n \n"), "Missing or invalid argument: entries");
  EXPECT_EQ(refusal_of("ä\tb\nc"), second + "misses tab separator");
  EXPECT_EQ(refusal_of("a,b\nc", EntriesFormat::kCsv), second + "misses comma separator");
  EXPECT_EQ(refusal_of("a\tb\nc\td\te"), second + "has more than one tab separator");
  EXPECT_EQ(refusal_of("a\tb\n \td"), second + "has an empty source phrase");
  EXPECT_EQ(refusal_of("a\tb\nc\t"), second + "has an empty target phrase");
  EXPECT_EQ(refusal_of("a\tb\na\td"), second + "duplicates key with the index 0 (starting at position 0)");
  EXPECT_EQ(refusal_of("a\tb\nc\td\x01"), second + "has the control character U+0001 in its target phrase");
  EXPECT_EQ(refusal_of("a\tb\nc\xE2\x80\xA8\td"), second + "has the control character U+2028 in its source phrase");
  EXPECT_EQ(refusal_of("a,b\n\"c,d", EntriesFormat::kCsv), second + "has a quote that is not closed");
  EXPECT_EQ(refusal_of("a\tb\n" + std::string(1025, 'c') + "\td"),
            second + "has a source phrase of 1025 bytes, at most 1024 are allowed");
}

TEST(GlossaryEntries, ChangesReplaceAndAdd) {
  EXPECT_EQ(merged_entries({{"a", "1"}, {"b", "2"}}, {{"c", "3"}, {"a", "4"}}),
            (Entries{{"a", "4"}, {"b", "2"}, {"c", "3"}}));
}

// ---- files

class Store : public testing::Test {
 protected:
  static Glossary glossary(const std::string& name, Entries entries, const std::string& owner = "") {
    return {.name = name, .owner = owner, .dictionaries = {{.pair = kPair, .entries = std::move(entries)}}};
  }
  std::filesystem::path file_of(const std::string& id) const { return folder() / (id + ".json"); }
  std::filesystem::path folder() const { return temporary_.path() / "glossaries"; }

  test_support::TemporaryFolder temporary_;
};

TEST_F(Store, AGlossarySurvivesARestart) {
  std::string id, time;
  {
    GlossaryStore store(folder());
    const auto made = store.create(glossary("animals", {{"cat", "Katze"}, {"\"dog\"", "Hünd\\chen"}}, "someone"));
    id = made->id;
    time = made->creation_time;
  }
  const GlossaryStore store(folder());
  const auto found = store.find("someone", id);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "animals");
  EXPECT_EQ(found->creation_time, time);
  EXPECT_EQ(found->dictionaries.front().entries, (Entries{{"cat", "Katze"}, {"\"dog\"", "Hünd\\chen"}}));
  EXPECT_EQ(found->dictionaries.front().terms->find("a cat"), std::vector<std::string>{"Katze"});
  EXPECT_EQ(store.find("", id), nullptr) << "of another owner";
  EXPECT_EQ(store.list("someone").size(), 1U);
  EXPECT_EQ(store.list("").size(), 0U);
}

TEST_F(Store, ListsTheOldestFirstAndForgetsWhatIsRemoved) {
  GlossaryStore store(folder());
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) {
    ids.push_back(store.create(glossary(std::to_string(i), {{"a", "b"}}))->id);
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  EXPECT_TRUE(store.remove("", ids[1]));
  EXPECT_FALSE(store.remove("", ids[1]));
  EXPECT_FALSE(store.remove("other", ids[0]));
  const auto all = store.list("");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]->id, ids[0]);
  EXPECT_EQ(all[1]->id, ids[2]);
  EXPECT_FALSE(std::filesystem::exists(file_of(ids[1])));
}

TEST_F(Store, NoOtherFileIsEverLookedUp) {
  GlossaryStore store(folder());
  base::write_file_atomic(temporary_.path() / "outside.json", "{}");
  for (const std::string id : {"../outside", "outside", "", ".", "..", ".lock"}) {
    EXPECT_EQ(store.find("", id), nullptr) << id;
    EXPECT_FALSE(store.remove("", id)) << id;
  }
  EXPECT_TRUE(std::filesystem::exists(temporary_.path() / "outside.json"));
}

TEST_F(Store, ADamagedFileIsNamed) {
  std::string id;
  {
    GlossaryStore store(folder());
    id = store.create(glossary("n", {{"a", "b"}}))->id;
  }
  base::write_file_atomic(file_of(id), R"({"creation_time": "", "owner": "", "dictionaries": []})");
  test_support::expect_error(ErrorKind::kBadData, {id, "\"name\" is missing"}, [&] { GlossaryStore store(folder()); });
  base::write_file_atomic(file_of(id), "{\"name\"");
  test_support::expect_error(ErrorKind::kBadData, {id}, [&] { GlossaryStore store(folder()); });
}

TEST_F(Store, AFolderThatCannotBeMadeIsNamed) {
  base::write_file_atomic(folder(), "a file");
  test_support::expect_error(ErrorKind::kCannotWrite, {folder().string()}, [&] { GlossaryStore store(folder()); });
}

TEST_F(Store, LargeGlossariesAreRefusedAndChangeNothing) {
  GlossaryStore store(folder());
  const std::string id = store.create(glossary("n", {{"a", "b"}}))->id;
  Entries large;
  for (int i = 0; i < 11'000; ++i) {
    large.push_back({fmt::format("{}{}", i, std::string(900, 's')), std::string(100, 't')});
  }
  try {
    store.update("", id, [&](Glossary& one) { one.dictionaries.front().entries = large; });
    ADD_FAILURE();
  } catch (const HttpError& error) {
    EXPECT_EQ(error.status(), 413);
  }
  EXPECT_EQ(store.find("", id)->dictionaries.front().entries.size(), 1U);
}

// Entries whose targets all name one state.
Entries state(int number) {
  Entries entries;
  for (int i = 0; i < 300; ++i) {
    entries.push_back({fmt::format("word {}", i), std::to_string(number)});
  }
  return entries;
}

// The number that all entries name, or -1 if they name several.
int number_of(const Glossary& glossary) {
  const Entries& entries = glossary.dictionaries.front().entries;
  for (const GlossaryEntry& entry : entries) {
    if (entry.target != entries.front().target) {
      return -1;
    }
  }
  return entries.size() == 300 ? std::stoi(entries.front().target) : -1;
}

TEST_F(Store, WhatAKilledServerWroteAsideIsDropped) {
  std::string id;
  {
    GlossaryStore store(folder());
    id = store.create(glossary("n", state(1)))->id;
  }
  // As it is between the write and the rename.
  const std::filesystem::path aside = file_of(id).string() + ".tmp";
  base::write_file_atomic(aside, "{\"name\": \"half");
  const GlossaryStore store(folder());
  EXPECT_EQ(number_of(*store.find("", id)), 1);
  EXPECT_FALSE(std::filesystem::exists(aside));
}

TEST_F(Store, AKillAtAnyTimeLeavesAWholeGlossary) {
  std::string id;
  {
    GlossaryStore store(folder());
    id = store.create(glossary("n", state(0)))->id;
  }
  int last = 0;
  int changes = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      GlossaryStore store(folder());
      for (int number = last + 1;; ++number) {
        store.update("", id, [&](Glossary& one) { one.dictionaries.front().entries = state(number); });
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(2000 + 700 * trial));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
    const GlossaryStore store(folder());
    const auto found = store.find("", id);
    ASSERT_NE(found, nullptr);
    const int number = number_of(*found);
    ASSERT_GE(number, last) << "a stored state was lost, or two were mixed";
    changes += number > last ? 1 : 0;
    last = number;
  }
  EXPECT_GT(changes, 3) << "the children wrote nothing";
}

TEST_F(Store, ReadersSeeWholeStatesWhileWritersWrite) {
  GlossaryStore store(folder());
  const std::string id = store.create(glossary("n", state(0)))->id;
  std::atomic<bool> is_over{false};
  std::atomic<int> bad{0};
  std::atomic<int64_t> reads{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      int last = 0;
      while (!is_over) {
        const auto found = store.find("", id);
        const int number = found == nullptr ? -1 : number_of(*found);
        bad += number < last || store.list("").empty() ? 1 : 0;
        last = number;
        ++reads;
      }
    });
  }
  for (int number = 1; number <= 60; ++number) {
    store.update("", id, [&](Glossary& one) { one.dictionaries.front().entries = state(number); });
  }
  is_over = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
  EXPECT_EQ(bad, 0);
  EXPECT_GT(reads, 0);
}

// As when a new version of the server takes over.
TEST_F(Store, TwoServersShareAFolder) {
  GlossaryStore one(folder());
  GlossaryStore two(folder());
  const std::string id = one.create(glossary("n", {{"a", "b"}}))->id;
  ASSERT_NE(two.find("", id), nullptr);
  const auto add = [&](GlossaryStore& store, const std::string& prefix) {
    for (int i = 0; i < 20; ++i) {
      store.update("", id, [&](Glossary& glossary) {
        glossary.dictionaries.front().entries.push_back({fmt::format("{} {}", prefix, i), "x"});
      });
    }
  };
  std::thread other([&] { add(two, "two"); });
  add(one, "one");
  other.join();
  EXPECT_EQ(one.find("", id)->dictionaries.front().entries.size(), 41U) << "no change is lost";
  EXPECT_EQ(two.find("", id)->dictionaries.front().entries.size(), 41U);
  EXPECT_TRUE(two.remove("", id));
  EXPECT_EQ(one.find("", id), nullptr);
}

}  // namespace
}  // namespace dragoman::serving
