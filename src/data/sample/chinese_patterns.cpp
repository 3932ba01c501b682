#include "data/sample/chinese_patterns.h"

namespace dragoman::data::sample {

namespace {

constexpr ChinesePattern kPatternTable[] = {
    {.name = "cross", .statement = "{A}{T}没有穿过{B}", .people = true},
    {.name = "cross-although", .statement = "{A}{T}穿过了{B}", .people = true},
    {.name = "swim", .statement = "{A}{T}没有游过{B}", .people = true},
    {.name = "climb", .statement = "{A}{T}没有爬上{B}", .people = true},
    {.name = "fit", .statement = "{A}{T}装不进{B}"},
    {.name = "eat", .statement = "{A}{T}吃了{B}", .people = true},
    {.name = "refuse", .statement = "{A}{T}没有吃{B}", .people = true},
    {.name = "sleep", .statement = "{A}{T}睡在{B}里", .people = true},
    {.name = "leave-place", .statement = "{A}{T}没有待在{B}里", .people = true},
    {.name = "pull", .statement = "{A}{T}拉不动{B}", .people = true},
    {.name = "break", .statement = "{A}{T}砸碎了{B}"},
    {.name = "cut", .statement = "{P}{T}没能用{B}切开{A}"},
    {.name = "put-on", .statement = "{P}{T}把{A}放在了{B}上"},
    {.name = "take-out",
     .statement = "{P}{T}从{B}里拿出了{A}",
     .clauses_a = "ate <obj>=吃掉了<np>|tasted <obj>=尝了尝<np>|cooked <obj>=煮熟了<np>",
     .clauses_b = "closed <obj>=关上了<np>|locked <obj>=锁上了<np>|emptied <obj>=清空了<np>"},
    {.name = "wait",
     .statement = "{A}{T}等在{B}旁边",
     .clauses_a = "nobody fed <obj>=没有人喂<np>|nobody helped <obj>=没有人帮助<np>|<it> lacked courage=<np>缺少勇气|"
                  "<it> lacked strength=<np>缺少力气",
     .clauses_b = "nobody repaired <obj>=没有人修理<np>|nobody steered <obj>=没有人驾驶<np>|"
                  "<it> lacked a driver=<np>缺少司机|<it> lacked a brake=<np>缺少刹车"},
    {.name = "watch",
     .statement = "{A}{T}看着{B}",
     .clauses_a = "<it> fell asleep=<np>睡着|<it> got hungry=<np>饿了|somebody fed <obj>=有人喂<np>|"
                  "<it> lacked patience=<np>没有耐心",
     .clauses_b = "<it> broke down=<np>坏掉|<it> <was> repaired=<np>被修好|somebody repaired <obj>=有人修理<np>|"
                  "<it> <was> loaded=<np>装满货"},
};

constexpr Rendering kConnectiveTable[] = {{"because", "因为"}, {"since", "由于"}, {"although", "尽管"},
                                          {"until", "直到"},   {"but", "但是"},   {"and", "并且"}};
constexpr Rendering kDegreeTable[] = {{"too", "太*了"}, {"so", "特别*"}, {"very", "很*"}};
constexpr Rendering kWeatherTable[] = {{"it was raining", "下雨了"},
                                       {"it was snowing", "下雪了"},
                                       {"it was thundering", "打雷了"},
                                       {"it was hailing", "下冰雹了"}};
constexpr Rendering kPositionTable[] = {
    {"behind", "后面"}, {"beside", "旁边"}, {"in front of", "前面"}, {"near", "附近"}};
constexpr Rendering kNumeralTable[] = {{"two", "两*"}, {"three", "三*"}, {"four", "四*"},   {"five", "五*"},
                                       {"ten", "十*"}, {"many", "许多"}, {"several", "几*"}};
constexpr Rendering kPluralVerbTable[] = {
    {"slept", "睡在*里"}, {"hid", "躲在*里"}, {"played", "在*里玩耍"}, {"waited", "在*里等着"}};
constexpr Rendering kPastTable[] = {
    {"saw", "看见了"}, {"found", "找到了"}, {"painted", "画了"}, {"photographed", "拍摄了"}, {"forgot", "忘记了"}};
constexpr Rendering kModalTable[] = {{"wants to", "想"}, {"must", "必须"}, {"can", "可以"}, {"would like to", "希望"}};
constexpr Rendering kInfinitiveTable[] = {
    {"buy", "买"}, {"sell", "卖"}, {"draw", "画"}, {"show", "展示"}, {"look for", "寻找"}};

}  // namespace

const std::span<const ChinesePattern> kChinesePatterns = kPatternTable;
const std::span<const Rendering> kChineseConnectives = kConnectiveTable;
const std::span<const Rendering> kChineseDegrees = kDegreeTable;
const std::span<const Rendering> kChineseWeather = kWeatherTable;
const std::span<const Rendering> kChinesePositions = kPositionTable;
const std::span<const Rendering> kChineseNumerals = kNumeralTable;
const std::span<const Rendering> kChinesePluralVerbs = kPluralVerbTable;
const std::span<const Rendering> kChinesePast = kPastTable;
const std::span<const Rendering> kChineseModals = kModalTable;
const std::span<const Rendering> kChineseInfinitives = kInfinitiveTable;

}  // namespace dragoman::data::sample
