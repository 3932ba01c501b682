#include "serving/text/sentence_rules.h"

#include <algorithm>
#include <string>

#include "base/utf8.h"
#include "serving/text/languages.h"

namespace dragoman::serving {
namespace {

constexpr SentenceRules kAnyLanguage{
    .inside = U" Mr Mrs Ms Dr Prof St e.g i.e ",
    .at_ends = U" jr sr etc inc ltd corp ",
    .numbers = U" nr vol ",
};

constexpr SentenceRules kLanguages[] = {
    {.codes = U" en ",
     .inside = U" Mr Mrs Ms Messrs Mx Dr Prof Rev Hon Gov Sen Sens Rep Reps Pres Gen Col Maj Capt Cpt Cmdr Adm Lt Sgt "
               U"Cpl Pvt Pfc Supt Insp Det Ste Mt Fr Msgr Sra Srta vs v e.g i.e cf viz c.f ",
     .at_ends = U" St ft jr sr inc ltd co corp bros esq al ave blvd rd dept univ assn approx ph.d m.d b.a m.a a.m p.m "
                U"Calif Fla Conn Ariz Colo Mich Minn Tenn Penn Okla Ont ",
     .numbers = U" no nos nr eq eqs fig figs vol vols p pp ch chap sec sect ed ext est ca approx max min op Art jan "
                U"feb apr aug sept oct nov dec Mar Jun Jul Sep ",
     .openers = U" a an the this that these those he she it they we you his her its their our your my there here what "
                U"when where why who how which whose if in on at for from with by as and but or so yet not after "
                U"before while since although though because despite during however some many most all both one two no "
                U"yes i then now today yesterday thus also even still until once another each every please did does do "
                U"is are was were has have can could would will according among under over ",
     .letters = U" I "},
    {.codes = U" de lb nds ",
     .inside = U" Mr Mrs Ms Hr Hrn Fr Frl Dr Prof Dipl Ing Mag St Sankt Sra Hl bzw vgl sog ca evtl ggf inkl incl exkl "
               U"insb bes zzgl bzgl einschl mind z.b d.h u.a v.a i.d.r o.g m.e s.o z.t vs Gebr geb gest ev kath lat "
               U"griech engl franz dt od resp tsch allg Sgt Maj Gov Sen Rep Lt Col Capt ",
     .at_ends = U" usw etc usf jr sr co inc ltd corp mio mrd tsd str dgl ff ph.d m.a u.ä o.ä chr Gen ",
     .numbers = U" nr no abs art abb bd kap tab s pos Tel Ziff Anm Aufl Hrsg Jan Feb Apr Aug Sept Okt Nov Dez max min ",
     .openers = U" der die das dem den des ein eine einer eines einem einen er sie es wir ich ihr du man dies diese "
                U"dieser dieses diesem diesen sein seine ihre mein unser was wer wie wo wann warum wenn als am an auf "
                U"aus bei bis da dann dabei damit danach daher deshalb dennoch doch aber und oder denn durch für gegen "
                U"im in ist sind war hat mit nach nicht noch nun nur ob ohne seit so sogar statt trotz über um unter "
                U"vom von vor wegen während weil zu zum zur zwar alle auch außerdem allerdings dort hier heute gestern "
                U"jetzt jeder kein keine laut viele zudem ",
     .ending = U"str",
     .has_ordinals = true,
     .points_inwards = true},
    {.codes = U" fr ",
     .inside = U" M MM Mr Mme Mmes Mlle Mlles Melle Dr Pr Prof Me Mgr St Ste Sts Gal Cdt Cne Lt Sra cf p.ex c.à.d e.g "
               U"i.e av apr vs env ",
     .at_ends = U" jr sr co inc ltd corp cie al suiv éd hab ",
     .numbers = U" no n nos p pp art vol fig chap tél réf t ch max min par janv févr avr juil sept oct nov déc ",
     .openers =
         U" le la les l un une des du de d ce cet cette ces c il elle ils elles on nous vous je j tu mais et ou donc "
         U"or ni car que qu qui quoi quand comment pourquoi où si s en dans sur pour par avec sans sous chez après "
         U"avant depuis pendant selon malgré lors lorsque comme alors ainsi aussi cependant pourtant toutefois enfin "
         U"puis ensuite son sa ses leur leurs mon ma mes notre nos votre vos n ne y à au aux tout tous toute toutes "
         U"plusieurs certains aucun chaque même quel quelle est a aujourd hier ici là non oui ",
     .letters = U" a à y "},
    {.codes = U" es gl ca ",
     .inside = U" Sr Sra Sres Srta Dr Dra Dña Prof Profa Lic Ing Arq EE Gral Cnel Sto Sta Fr Mons Ud Uds Vd Vds Excmo "
               U"Ilmo p.ej p.e cf aprox e.g i.e vs av avda ",
     .at_ends = U" cía jr co inc ltd s.a s.l uu ee.uu a.m p.m a.c d.c ",
     .numbers = U" núm nº no n pág págs p pp art arts vol fig cap tel ref ed ene feb abr ago sept oct nov dic ",
     .openers = U" el la los las lo un una unos unas este esta estos estas ese esa eso esto aquel aquella él ella "
                U"ellos ellas yo tú nosotros usted ustedes su sus mi mis nuestro nuestra y o pero sino porque que qué "
                U"quien quién cuando cuándo como cómo donde dónde si sí no en de del al a con sin por para según sobre "
                U"entre desde hasta tras durante aunque mientras sin también además entonces luego así hoy ayer ahora "
                U"aquí allí hay es son fue era muchos algunos todos todo cada otro otra se le les me nos ",
     .letters = U" y o a e u é "},
    {.codes = U" it ",
     .inside = U" Sig Sigg Dott Dr Prof Ing Avv Arch Geom On Sen Mons Don p.es es cfr vs e.g i.e ",
     .at_ends = U" co inc ltd s.p.a s.r.l a.c d.c ",
     .numbers = U" n no nr p pp pag pagg art artt vol fig cap tel tab gen feb mar apr ago sett ott nov dic ",
     .openers = U" il lo la i gli le un uno una questo questa questi queste quello quella egli lui lei loro noi voi io "
                U"tu e ed ma o che chi cosa come quando dove perché se in di del della a al alla da dal con per su sul "
                U"tra fra non dopo prima anche ancora così poi oggi ieri ora qui tutti molti ogni è sono ",
     .letters = U" e è o a i "},
    {.codes = U" pt ",
     .inside = U" Sr Sra Srs Srta Dr Dra Prof Profa Eng Exmo Ilmo St Sto Sta p.ex cf vs e.g i.e av ",
     .at_ends = U" cia ltda jr co inc ltd corp s.a a.c d.c EUA ",
     .numbers = U" n no núm pág págs p pp art arts vol fig cap tel jan fev abr ago set out nov dez ",
     .openers = U" o a os as um uma este esta esse essa isto isso aquele aquela ele ela eles elas eu tu nós você vocês "
                U"seu sua e ou mas porque que quem quando como onde se sim não em no na nos nas de do da ao à com sem "
                U"por para segundo sobre entre desde até após durante embora também além então assim hoje ontem agora "
                U"aqui há é são foi era muitos alguns todos cada ",
     .letters = U" e o a é à "},
    {.codes = U" nl af ",
     .inside = U" Dhr Mevr Mw Mr Mrs Dr Drs Ing Ir Prof Ds St bijv bv nl resp m.a.w d.w.z o.a t.a.v vs ca e.g i.e ",
     .at_ends = U" enz etc jr sr co inc ltd corp n.v b.v ",
     .numbers = U" nr nrs no blz p pp art afb fig vol tel jan feb apr aug sept okt nov dec ",
     .openers = U" de het een dit dat deze die hij zij ze we wij ik jij je u er en maar of want dus als toen wanneer "
                U"waar wat wie hoe waarom in op aan van voor met bij door uit over na naar om tot tijdens volgens "
                U"daarom daarna ook niet nog nu hier daar alle veel zijn haar hun is was ",
     .letters = U" u "},
    {.codes = U" da nb nn no fo ",
     .inside = U" Hr Fr Dr Prof St f.eks bl.a dvs ca evt inkl ekskl vs ",
     .at_ends = U" osv etc mv m.m m.v jr co inc ltd mio mia kr ",
     .numbers = U" nr s kap stk art fig tlf jan feb apr aug sept okt nov des dec ",
     .openers = U" den det de en et han hun jeg vi du der og men eller hvis når da som hvad hva hvem hvor hvordan "
                U"hvorfor i på af av til fra med om for ved efter etter under over ikke også så nu nå her ",
     .letters = U" i å ",
     .has_ordinals = true,
     .points_inwards = true},
    {.codes = U" sv ",
     .inside = U" Hr Fr Dr Prof S:t t.ex bl.a dvs ca inkl exkl vs ",
     .at_ends = U" osv etc m.m m.fl jr co inc ltd kr ",
     .numbers = U" nr s kap art fig tel jan feb apr aug sept okt nov dec ",
     .openers = U" den det de en ett han hon jag vi du och men eller om när som vad vem var hur varför i på av till "
                U"från med för vid efter under över inte också så nu här ",
     .letters = U" i å "},
    {.codes = U" fi et ",
     .inside = U" esim mm ns ts ks vrt n ",
     .at_ends = U" jne ym jr ",
     .numbers = U" nro s nr ",
     .openers = U" hän he minä sinä me te se ne tämä nämä ja mutta kun jos mitä mikä kuka missä miksi ei on oli nyt "
                U"siellä sitten ta ma see aga kui ",
     .has_ordinals = true},
    {.codes = U" pl ",
     .inside = U" dr prof inż mgr św gen płk ks p tzw tj np m.in wg ul al ",
     .at_ends = U" itd itp etc r w tys mln mld ",
     .numbers = U" nr s str art ust poz rys tab ",
     .openers = U" on ona ono oni one ja ty my wy to ten ta te ci w na z do po od za przy i a ale lecz oraz nie że gdy "
                U"gdyby jak kiedy co kto czy gdzie dlaczego jego jej ich jest był była są tam tu teraz potem ",
     .letters = U" i a o w z u ",
     .has_ordinals = true},
    {.codes = U" cs sk sl hr bs sr ",
     .inside = U" dr prof ing mgr mudr sv gen p pí tzv např napr tj resp ul npr oz vl mr ",
     .at_ends = U" atd apod etc mil mld tis itd ",
     .numbers = U" č s str čl obr odst tab br ",
     .openers = U" on ona ono oni ony já ja ty my vy to ten ta ti te v ve na s se z ze do po od a ale nebo ne není nie "
                U"je když jak co kdo kde proč jeho její jejich byl byla tam tady teď potom i u ",
     .letters = U" i a o u v k s z ",
     .has_ordinals = true},
    {.codes = U" hu ",
     .inside = U" dr prof ifj id özv pl ill kb ún ",
     .at_ends = U" stb jr ",
     .numbers = U" sz o old ",
     .openers = U" ő ők én te mi ti a az ez ezek azok egy és de vagy nem hogy ki ha hol miért mikor itt ott most aztán "
                U"van volt ",
     .letters = U" a s ő ",
     .has_ordinals = true},
    {.codes = U" is lv tr eu az ",
     .inside = U" dr prof ",
     .at_ends = U" etc vb o.fl utt ",
     .numbers = U" nr no ",
     .openers = U" o bu şu onlar ben sen biz siz ve ama ne kim nerede neden bir hann hún það þeir og en ekki hvað viņš "
                U"viņa tas tā un bet ne kas kur ",
     .letters = U" í á o ",
     .has_ordinals = true},
    {.codes = U" ru uk be bg ",
     .inside = U" гг г-н г-жа проф акад ул пл т.е напр ср м св ",
     .at_ends = U" т.д т.п др руб коп тыс млн млрд вв г см ",
     .numbers = U" стр с ст рис табл гл т ",
     .openers = U" он она оно они я ты мы вы это этот эта эти тот та те в во на с со из к по о об от до за у и а но "
                U"или не что кто как когда где почему если его её их был была было были есть там тут сейчас потом він "
                U"вона воно вони ви це цей ця та або ні що хто як коли де ",
     .letters = U" я и а о у в к с є і й "},
    {.codes = U" hy ", .mark = U':'},
    {.codes = U" el ",
     .inside = U" κ κα δρ π.χ δηλ ",
     .at_ends = U" κ.λπ κλπ κ.ά π.μ μ.μ ",
     .numbers = U" αρ σελ ",
     .openers = U" ο η το οι τα αυτός αυτή αυτό αυτοί εγώ εσύ εμείς εσείς και αλλά ή δεν τι ποιος πού πότε γιατί πώς "
                U"αν στο στη στον από με για εκεί εδώ τώρα ",
     .letters = U" η ο ή ",
     .mark = U';'},
};

}  // namespace

bool has_word(std::u32string_view list, std::u32string_view word) {
  for (size_t at = list.find(word); at != std::u32string_view::npos; at = list.find(word, at + 1)) {
    if (at > 0 && list[at - 1] == U' ' && list[at + word.size()] == U' ') {
      return true;
    }
  }
  return false;
}

const SentenceRules& sentence_rules(std::string_view language) {
  const std::u32string code = base::decode_utf8(base_language(tidy_language(language)));
  const auto own = std::ranges::find_if(
      kLanguages, [&](const SentenceRules& rules) { return !code.empty() && has_word(rules.codes, code); });
  return own == std::end(kLanguages) ? kAnyLanguage : *own;
}

}  // namespace dragoman::serving
