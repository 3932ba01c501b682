#include "models/language_codes.h"

#include <algorithm>

#include "base/ascii.h"

namespace dragoman::models {
namespace {

// A code and the common one: ISO 639-2, single languages that a model calls by their code of ISO 639-3, and old codes.
constexpr std::string_view kCommonCodes =
    ", "
    "aar aa, abk ab, afr af, aka ak, alb sq, als sq, amh am, ara ar, arb ar, arg an, arm hy, asm as, ava av, "
    "ave ae, aym ay, ayr ay, aze az, azj az, bak ba, bam bm, baq eu, bel be, ben bn, bih bh, bis bi, bod bo, "
    "bos bs, bre br, bul bg, bur my, cat ca, ces cs, cha ch, che ce, chi zh, chu cu, chv cv, cmn zh, cor kw, "
    "cos co, cre cr, cym cy, cze cs, dan da, deu de, div dv, dut nl, dzo dz, ekk et, ell el, eng en, epo eo, "
    "est et, eus eu, ewe ee, fao fo, fas fa, fij fj, fil tl, fin fi, fra fr, fre fr, fry fy, ful ff, fuv ff, "
    "gaz om, geo ka, ger de, gla gd, gle ga, glg gl, glv gv, gre el, grn gn, guj gu, hat ht, hau ha, heb he, "
    "her hz, hin hi, hmo ho, hrv hr, hun hu, hye hy, ibo ig, ice is, ido io, iii ii, iku iu, ile ie, in id, "
    "ina ia, ind id, ipk ik, isl is, ita it, iw he, jav jv, ji yi, jpn ja, jw jv, kal kl, kan kn, kas ks, "
    "kat ka, kau kr, kaz kk, khk mn, khm km, kik ki, kin rw, kir ky, kmr ku, knc kr, kom kv, kon kg, kor ko, "
    "kua kj, kur ku, lao lo, lat la, lav lv, lim li, lin ln, lit lt, ltz lb, lub lu, lug lg, lvs lv, mac mk, "
    "mah mh, mal ml, mao mi, mar mr, may ms, mkd mk, mlg mg, mlt mt, mo ro, mon mn, mri mi, msa ms, mya my, "
    "nau na, nav nv, nbl nr, nde nd, ndo ng, nep ne, nld nl, nno nn, no nb, nob nb, nor nb, npi ne, ns nso, "
    "nya ny, oci oc, oji oj, ori or, orm om, ory or, oss os, pan pa, pbt ps, per fa, pes fa, pli pi, plt mg, "
    "pol pl, por pt, pus ps, que qu, quy qu, roh rm, ron ro, rum ro, run rn, rus ru, sag sg, san sa, sin si, "
    "slk sk, slo sk, slv sl, sme se, smo sm, sna sn, snd sd, som so, sot st, spa es, sqi sq, srd sc, srp sr, "
    "ssw ss, sun su, swa sw, swe sv, swh sw, tah ty, tam ta, tat tt, tel te, tgk tg, tgl tl, tha th, tib bo, "
    "tir ti, ton to, tsn tn, tso ts, tuk tk, tur tr, twi tw, uig ug, ukr uk, urd ur, uzb uz, uzn uz, ven ve, "
    "vie vi, vol vo, wel cy, wln wa, wol wo, xho xh, ydd yi, yid yi, yor yo, zha za, zho zh, zsm ms, zul zu, ";

// The script that a language is written in if a code does not say another; Latn of all that are not listed.
constexpr std::string_view kUsualScripts = " ar-Arab fa-Arab ks-Arab ur-Arab zh-Hans ";

bool is_usual(const std::string& language, const std::string& code) {
  const std::string listed = " " + language + "-";
  const size_t at = kUsualScripts.find(listed);
  const std::string_view script =
      at == std::string_view::npos ? "Latn" : kUsualScripts.substr(at + listed.size(), std::string_view("Latn").size());
  return code == language || code == language + "-" + std::string(script);
}

}  // namespace

std::string tidy_language(std::string_view code) {
  std::string tidy = base::ascii_lower_case(code);
  std::ranges::replace(tidy, '_', '-');
  if (tidy == "pb") {
    return "pt-BR";
  }
  if (tidy == "zt" || tidy == "zh-tw") {
    return "zh-Hant";
  }
  if (tidy == "zh-cn") {
    return "zh-Hans";
  }
  constexpr size_t kScript = 4;
  constexpr size_t kCountry = 2;
  for (size_t at = tidy.find('-'); at != std::string::npos; at = tidy.find('-', at + 1)) {
    const size_t size = std::min(tidy.find('-', at + 1), tidy.size()) - at - 1;
    const size_t capitals = size == kScript ? 1 : size == kCountry ? 2 : 0;
    tidy.replace(at + 1, capitals, base::ascii_upper_case(tidy.substr(at + 1, capitals)));
  }
  return tidy;
}

std::string base_language(std::string_view code) {
  return std::string(code.substr(0, code.find('-')));
}

std::string common_language(std::string_view code) {
  const std::string tidy = tidy_language(code), language = base_language(tidy);
  const std::string listed = ", " + language + " ";
  const size_t at = kCommonCodes.find(listed);
  if (language.empty() || at == std::string_view::npos) {
    return tidy;
  }
  const std::string_view rest = kCommonCodes.substr(at + listed.size());
  return std::string(rest.substr(0, rest.find(','))) + tidy.substr(language.size());
}

std::vector<std::string> common_languages(const std::vector<std::string>& own) {
  std::vector<std::string> codes, languages;
  for (const std::string& code : own) {
    codes.push_back(common_language(code));
    languages.push_back(base_language(codes.back()));
  }
  std::vector<std::string> chosen;
  for (size_t i = 0; i < own.size(); ++i) {
    const bool is_alone = std::ranges::count(languages, languages[i]) == 1 || is_usual(languages[i], codes[i]);
    const std::string& code = is_alone ? languages[i] : codes[i];
    chosen.push_back(std::ranges::find(chosen, code) == chosen.end() ? code : tidy_language(own[i]));
  }
  return chosen;
}

std::string match_language(std::string_view asked, const std::vector<std::string>& codes) {
  const std::string tidy = tidy_language(asked), common = common_language(asked);
  for (const std::string& code : {tidy, common}) {
    if (std::ranges::find(codes, code) != codes.end()) {
      return code;
    }
  }
  if (const auto same = std::ranges::find(codes, common, common_language); same != codes.end()) {
    return *same;
  }
  const std::string base = base_language(common);
  const auto is_base = [&](const std::string& code) { return code == base || common_language(code) == base; };
  if (const auto alone = std::ranges::find_if(codes, is_base); alone != codes.end()) {
    return *alone;
  }
  const auto is_kin = [&](const std::string& code) { return base_language(common_language(code)) == base; };
  // zh-Hant is not zh-Hans: only a code without script and country may match a longer one.
  return base == common && std::ranges::count_if(codes, is_kin) == 1 ? *std::ranges::find_if(codes, is_kin)
                                                                     : std::string();
}

}  // namespace dragoman::models
