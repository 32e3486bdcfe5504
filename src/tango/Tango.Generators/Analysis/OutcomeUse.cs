using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Tango.Generators;

/// <summary>
/// R18: what an operation with a version key answers may depend on the parts of the state that its key names, and on
/// nothing else. Followed within expressions only, not through locals.
/// </summary>
internal static class OutcomeUse
{
    /// <summary>Whether the result, a rejection or a branch depends on this state as a whole, not on what a lookup with
    /// arguments finds in it.</summary>
    public static bool IsWhole(IOperation state)
    {
        for (IOperation operation = state; operation.Parent is { } parent; operation = parent)
        {
            switch (parent)
            {
                case IInvocationOperation method when method.Instance == operation && HasVariable(method.Arguments):
                case IPropertyReferenceOperation property
                    when property.Instance == operation && HasVariable(property.Arguments):
                // A value that flows into state, or into a local, is not the outcome itself.
                case IAssignmentOperation assignment when assignment.Target == operation || IsStatement(assignment):
                case IVariableInitializerOperation or IIncrementOrDecrementOperation:
                // Whether this very operation has changed a persistent collection.
                case IArgumentOperation { Parent: IInvocationOperation { TargetMethod.Name: "ReferenceEquals" } }:
                case IArgumentOperation { Parent: IInvocationOperation call } argument when IsLookup(call, argument):
                case IBlockOperation or IExpressionStatementOperation or IAnonymousFunctionOperation:
                    return false;
                case IReturnOperation or IThrowOperation:
                case IConditionalOperation conditional when conditional.Condition == operation:
                case IWhileLoopOperation or IForLoopOperation or IForEachLoopOperation:
                case ISwitchOperation choice when choice.Value == operation:
                case ISwitchExpressionOperation expression when expression.Value == operation:
                    return true;
            }
        }
        return false;
    }

    // Lookups of the immutable collections are extension methods too; those of LINQ enumerate.
    private static bool IsLookup(IInvocationOperation call, IArgumentOperation argument) =>
        call.TargetMethod.IsExtensionMethod && !call.TargetMethod.ContainingType.Is("System.Linq.Enumerable")
        && call.Arguments[0] == argument && HasVariable(call.Arguments.Skip(1));

    private static bool HasVariable(IEnumerable<IArgumentOperation> arguments) =>
        arguments.Any(argument => argument.ArgumentKind == ArgumentKind.Explicit
            && !argument.Value.ConstantValue.HasValue);

    // An assignment that is itself returned, as in "return _value = value", gives what was assigned.
    private static bool IsStatement(IAssignmentOperation assignment) =>
        assignment.Parent is IExpressionStatementOperation;
}
