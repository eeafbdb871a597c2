//! A time limit on the expressions of a rule. CEL has none: a hundred bytes with two loops over the patches of a filter run for
//! hours.
//!
//! Every loop of a parsed expression calls a function before each step, which fails when the time is over. Its name cannot be
//! written in CEL.

use crate::budget;
use cel::common::ast::operators::CONDITIONAL;
use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr};
use cel::{Context, ExecutionError, IdedExpr, Program, Value};
use std::time::{Duration, Instant};

/// How long a rule may take for all EnvoyFilters that are judged together.
pub(super) const LONGEST_RUN: Duration = Duration::from_secs(10);

/// Work charged for each step of a loop.
const STEP: u64 = 100;

const TICK: &str = "@tick";

/// An expression whose loops end when the time of a [`Clock`] is over.
#[derive(Debug)]
pub(super) struct Limited(IdedExpr);

impl Limited {
    pub(super) fn new(program: &Program) -> Limited {
        let mut expression = program.expression().clone();
        limit(&mut expression);
        Limited(expression)
    }

    /// Evaluates it with variables that have a clock.
    pub(super) fn execute(&self, variables: &Context<'_, '_>) -> Result<Value, ExecutionError> {
        Value::resolve(&self.0, variables)
    }
}

/// The remaining time of a rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock(Instant);

impl Clock {
    /// Starts now.
    pub(super) fn start() -> Clock {
        Clock(Instant::now() + LONGEST_RUN)
    }

    /// Whether the time is over.
    pub(super) fn is_over(self) -> bool {
        budget::charge(STEP);
        Instant::now() >= self.0
    }

    /// The error of an expression that ran too long.
    pub(super) fn error() -> ExecutionError {
        let message = format!("the rule takes longer than {} s", LONGEST_RUN.as_secs());
        ExecutionError::function_error("loop", message)
    }

    /// Makes it available to expressions.
    pub(super) fn add_to(self, variables: &mut Context<'_, '_>) {
        let tick =
            move || -> Result<bool, ExecutionError> { if self.is_over() { Err(Clock::error()) } else { Ok(true) } };
        // The name is not one of CEL's own.
        let _ = variables.add_function(TICK, tick);
    }
}

/// Adds the call to all loops of an expression.
fn limit(expression: &mut IdedExpr) {
    match &mut expression.expr {
        Expr::Call(CallExpr { target, args, .. }) => {
            target.iter_mut().for_each(|target| limit(target));
            args.iter_mut().for_each(limit);
        }
        Expr::List(list) => list.elements.iter_mut().for_each(limit),
        Expr::Map(map) => map.entries.iter_mut().for_each(|entry| limit_entry(&mut entry.expr)),
        Expr::Struct(of) => of.entries.iter_mut().for_each(|entry| limit_entry(&mut entry.expr)),
        Expr::Select(select) => limit(&mut select.operand),
        Expr::Comprehension(each) => {
            let ComprehensionExpr { iter_range, accu_init, loop_cond, loop_step, result, .. } = each.as_mut();
            [iter_range, accu_init, loop_cond, loop_step, result].into_iter().for_each(limit);
            limit_loop(each);
        }
        Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => {}
    }
}

fn limit_entry(entry: &mut EntryExpr) {
    match entry {
        EntryExpr::MapEntry(entry) => [&mut entry.key, &mut entry.value].into_iter().for_each(limit),
        EntryExpr::StructField(field) => limit(&mut field.value),
    }
}

/// `map` and `filter` have a constant condition, which must stay: by it the evaluator recognizes loops that only append, and
/// does not copy the list in each step. There the step gets the condition.
fn limit_loop(each: &mut ComprehensionExpr) {
    let accumulator = IdedExpr { id: 0, expr: Expr::Ident(each.accu_var.clone()) };
    let tick = Expr::Call(CallExpr { func_name: TICK.to_owned(), target: None, args: Vec::new() });
    let tick = IdedExpr { id: 0, expr: tick };
    let is_constant = matches!(each.loop_cond.expr, Expr::Literal(_));
    let guarded = match &mut each.loop_step.expr {
        Expr::Call(CallExpr { func_name, args, .. }) if is_constant && func_name == CONDITIONAL => args.first_mut(),
        _ if is_constant => Some(&mut each.loop_step),
        _ => Some(&mut each.loop_cond),
    };
    let Some(guarded) = guarded else { return };
    let inner = std::mem::take(guarded);
    // The call returns true or fails, so the last part is never evaluated.
    let args = vec![tick, inner, accumulator];
    guarded.expr = Expr::Call(CallExpr { func_name: CONDITIONAL.to_owned(), target: None, args });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(expression: &str, clock: Clock) -> Result<Value, ExecutionError> {
        let mut variables = Context::default();
        clock.add_to(&mut variables);
        Limited::new(&Program::compile(expression).unwrap()).execute(&variables)
    }

    #[test]
    fn loops_mean_the_same_and_end_with_their_time() {
        for expression in [
            "[1, 2, 3].all(a, a > 0)",
            "[1, 2, 3].all(a, a > 1)",
            "[1, 2, 3].exists(a, a == 2)",
            "[1, 2, 3].exists_one(a, a > 2)",
            "[1, 2, 3].filter(a, a > 1)",
            "[1, 2, 3].map(a, a * 2)",
            "[1, 2, 3].map(a, a > 1, a * 2)",
            "{'a': [1, 2].map(a, [a].exists(b, b == 2))}.a",
            "[[1], [2, 3]].filter(a, a.all(b, b > 1)).map(a, size(a))[0]",
            "'x' + ([1].exists(a, a > 1) ? 'y' : 'z')",
        ] {
            let plain = Program::compile(expression).unwrap().execute(&Context::default());
            assert_eq!(run(expression, Clock::start()), plain, "{expression}");
            let late = run(expression, Clock(Instant::now()));
            assert!(late.is_err_and(|error| error.to_string().contains("longer than 10 s")), "{expression}");
        }
        assert!(Program::compile("@tick()").is_err());
    }

    #[test]
    fn appending_stays_linear() {
        let list = format!("[{}]", "1,".repeat(20_000) + "1");
        let began = Instant::now();
        assert!(
            run(&format!("{list}.map(a, a).filter(a, a > 0).size() == 20001"), Clock::start()) == Ok(Value::Bool(true))
        );
        assert!(began.elapsed() < LONGEST_RUN / 2, "{:?}", began.elapsed());
    }
}
