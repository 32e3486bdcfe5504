namespace Craq;

/// <summary>A transaction: mutations of several chains as one step, all or nothing (CRAQ 4.1.3). One without writes
/// reads a snapshot. Memory that is given must not change before the call has ended.</summary>
/// <remarks>Each part costs its chain two records, and all together one append to the log: objects that are written
/// together belong into one chain, where a mutation does.</remarks>
public sealed class CraqTransaction
{
    private readonly SortedDictionary<ChainId, (CraqChain Chain, MutateBuilder Part)> _parts = [];

    /// <summary>The part of a chain: one for each.</summary>
    public MutateBuilder On(CraqChain chain)
    {
        ArgumentNullException.ThrowIfNull(chain);
        if (!_parts.TryGetValue(chain.Id, out var part)) _parts[chain.Id] = part = (chain, new MutateBuilder());
        return part.Part;
    }

    /// <summary>The parts in the order of their chains.</summary>
    internal ImmutableArray<(CraqChain Chain, Mutation Mutation)> Build(int maxValue)
    {
        if (_parts.Count == 0) throw new InvalidOperationException("A transaction needs a part: say On(chain).");
        if (_parts.Count > TransactRequest.MaxParts)
            throw new InvalidOperationException(
                $"A transaction has at most {TransactRequest.MaxParts} parts, not {_parts.Count}: split it.");
        ImmutableArray<(CraqChain, Mutation)> parts =
            [.. _parts.Values.Select(part => (part.Chain, part.Part.Build(maxValue)))];
        var bytes = parts.Sum(part => part.Item2.ValueBytes);
        if (bytes > MessageLimits.MaxFrame / 2)
            throw new ArgumentException($"A transaction has at most {MessageLimits.MaxFrame / 2} bytes of values, not "
                + $"{bytes}: split it.");
        foreach (var (chain, mutation) in parts)
        {
            if (mutation.IsAtHead)
                throw new InvalidOperationException(
                    $"The part of '{chain.Name}' asks for an answer at the head: a transaction answers when all its "
                    + "parts are committed.");
        }

        return parts;
    }
}
