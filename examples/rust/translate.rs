// Translates the lines of standard input with libdragoman. The declarations below are those of dragoman.h that it needs.
//   rustc -O translate.rs -l dragoman
//   echo "Good morning." | ./translate my-model
use std::ffi::{c_char, c_void, CStr, CString};
use std::io::BufRead;
use std::ptr;

#[repr(C)]
struct Text {
    data: *const c_char,
    size: usize,
}

#[repr(C)]
struct Translation {
    size: usize,
    text: *const c_char,
    text_size: usize,
    score: f64,
    normalised_score: f64,
    ids: *const i32,
    id_count: usize,
    token_scores: *const f32,
    token_score_count: usize,
    alignment: *const f32,
    source_count: usize,
    finish_reason: i32,
    error: *const c_char,
    warning: *const c_char,
}

extern "C" {
    fn dragoman_last_error() -> *const c_char;
    fn dragoman_model_load(folder: *const c_char, options: *const c_void, model: *mut *mut c_void) -> i32;
    fn dragoman_model_free(model: *mut c_void);
    fn dragoman_translate(
        model: *const c_void,
        lines: *const Text,
        count: usize,
        options: *const c_void,
        translations: *mut *mut c_void,
    ) -> i32;
    fn dragoman_translations_get(
        translations: *const c_void,
        line: usize,
        rank: usize,
        translation: *mut Translation,
    ) -> i32;
    fn dragoman_translations_free(translations: *mut c_void);
}

fn check(status: i32) -> Result<(), String> {
    match status {
        0 => Ok(()),
        _ => Err(unsafe { CStr::from_ptr(dragoman_last_error()) }.to_string_lossy().into_owned()),
    }
}

struct Model(*mut c_void);

impl Model {
    fn load(folder: &str) -> Result<Model, String> {
        let folder = CString::new(folder).map_err(|error| error.to_string())?;
        let mut model = ptr::null_mut();
        check(unsafe { dragoman_model_load(folder.as_ptr(), ptr::null(), &mut model) })?;
        Ok(Model(model))
    }

    fn translate(&self, line: &str) -> Result<String, String> {
        let text = Text { data: line.as_ptr().cast(), size: line.len() };
        let mut translations = ptr::null_mut();
        unsafe {
            check(dragoman_translate(self.0, &text, 1, ptr::null(), &mut translations))?;
            let mut best: Translation = std::mem::zeroed();
            best.size = std::mem::size_of::<Translation>();
            let outcome = check(dragoman_translations_get(translations, 0, 0, &mut best))
                .map(|_| CStr::from_ptr(best.text).to_string_lossy().into_owned());
            dragoman_translations_free(translations);
            outcome
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        unsafe { dragoman_model_free(self.0) }
    }
}

fn main() -> Result<(), String> {
    let folder = std::env::args().nth(1).ok_or("usage: translate MODEL <LINES")?;
    let model = Model::load(&folder)?;
    for line in std::io::stdin().lock().lines() {
        println!("{}", model.translate(&line.map_err(|error| error.to_string())?)?);
    }
    Ok(())
}
