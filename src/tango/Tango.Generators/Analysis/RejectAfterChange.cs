using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.FlowAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Tango.Generators;

/// <summary>Finds a Reject(...) that can run after a change of state in the same body (R23: a rejection comes before
/// any change).</summary>
internal static class RejectAfterChange
{
    public static IEnumerable<IOperation> In(ControlFlowGraph graph, ISet<ISymbol> state)
    {
        int[] changedAt = [.. graph.Blocks.Select(b => FirstChange(b, state))];
        var after = new HashSet<int>();
        var queue = new Queue<BasicBlock>(graph.Blocks.Where(b => changedAt[b.Ordinal] >= 0));
        while (queue.Count > 0)
        {
            BasicBlock block = queue.Dequeue();
            foreach (BasicBlock? next in new[] { block.FallThroughSuccessor?.Destination,
                block.ConditionalSuccessor?.Destination })
            {
                if (next is not null && after.Add(next.Ordinal)) queue.Enqueue(next);
            }
        }
        foreach (BasicBlock block in graph.Blocks)
        {
            int from = after.Contains(block.Ordinal) ? 0 : changedAt[block.Ordinal];
            if (from < 0) continue;
            foreach (IOperation operation in Operations(block).Skip(from))
            {
                if (IsReject(operation)) yield return operation;
            }
        }
    }

    /// <summary>The index of the first operation that changes state, or -1.</summary>
    private static int FirstChange(BasicBlock block, ISet<ISymbol> state)
    {
        int index = 0;
        foreach (IOperation operation in Operations(block))
        {
            IOperation? target = operation switch
            {
                IAssignmentOperation assignment => assignment.Target,
                IIncrementOrDecrementOperation step => step.Target,
                _ => null,
            };
            if (target is not null
                && target.DescendantsAndSelf().Any(t => Member(t) is { } member && state.Contains(member)))
                return index;
            index++;
        }
        return -1;
    }

    private static ISymbol? Member(IOperation target) => target switch
    {
        IFieldReferenceOperation field => field.Field,
        IPropertyReferenceOperation property => property.Property,
        _ => null,
    };

    private static IEnumerable<IOperation> Operations(BasicBlock block)
    {
        IEnumerable<IOperation> all = block.Operations.SelectMany(InOrder);
        return block.BranchValue is { } value ? all.Concat(InOrder(value)) : all;
    }

    // Operands before what uses them: the order in which they run.
    private static IEnumerable<IOperation> InOrder(IOperation operation) =>
        operation.ChildOperations.SelectMany(InOrder).Append(operation);

    private static bool IsReject(IOperation operation) =>
        operation is IInvocationOperation { TargetMethod: { Name: "Reject" } method }
        && method.ContainingType.Is(Names.ObjectBase);
}
