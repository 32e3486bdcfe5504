using System.Collections.Immutable;
using System.Numerics;
using System.Runtime.InteropServices;
using Tango;

namespace JobScheduler.Objects;

/// <summary>
/// The nodes of the machine: which are free and which job holds which. An own object, written with the generator.
/// </summary>
/// <remarks>
/// Which nodes a job gets, and whether there are enough, depends on all of the pool, so allocating has no version key:
/// it conflicts with every change beside it. A release depends on what its job holds and nothing else.
/// </remarks>
[TangoObject("job-scheduler/node-pool")]
public sealed partial class NodePool : TangoObject
{
    private const int BitsPerWord = 64;

    private int _size;
    private int _free;

    // Bit n % 64 of word n / 64 is set while node n is free.
    private ImmutableArray<ulong> _freeBits = [];
    private ImmutableDictionary<long, ImmutableArray<NodeRange>> _held =
        ImmutableDictionary<long, ImmutableArray<NodeRange>>.Empty;

    /// <summary>Gives a new pool its nodes, all free.</summary>
    [Mutator(1, MayReject = true)]
    public partial ValueTask CreateAsync(int nodes, CancellationToken cancellationToken = default);

    /// <summary>Gives the job the lowest free nodes.</summary>
    /// <exception cref="TangoRejectedException">Too few are free, or the job holds some already.</exception>
    // 2 is retired: it was versioned by job.
    [Mutator(4, MayReject = true)]
    public partial ValueTask AllocateAsync(long job, int count, CancellationToken cancellationToken = default);

    /// <summary>Takes the job's nodes back.</summary>
    [Mutator(3, MayReject = true)]
    public partial ValueTask ReleaseAsync([VersionKey] long job, CancellationToken cancellationToken = default);

    /// <summary>The nodes a job holds, lowest first; none if it holds none.</summary>
    [Accessor]
    public partial ValueTask<ImmutableArray<NodeRange>> HeldAsync([VersionKey] long job,
        CancellationToken cancellationToken = default);

    [Accessor]
    public partial ValueTask<int> FreeAsync(CancellationToken cancellationToken = default);

    [Accessor]
    public partial ValueTask<int> SizeAsync(CancellationToken cancellationToken = default);

    private void ApplyCreate(int nodes)
    {
        if (_size != 0)
            throw Reject($"the pool has {_size} nodes already");
        if (nodes < 1)
            throw Reject($"{nodes} is not a number of nodes");
        _size = nodes;
        _free = nodes;
        var words = new ulong[(nodes + BitsPerWord - 1) / BitsPerWord];
        Array.Fill(words, ulong.MaxValue);
        if (nodes % BitsPerWord != 0)
            words[^1] = (1UL << (nodes % BitsPerWord)) - 1;
        _freeBits = ImmutableCollectionsMarshal.AsImmutableArray(words);
    }

    private void ApplyAllocate(long job, int count)
    {
        if (count < 1 || count > _free)
            throw Reject($"job {job} needs {count} nodes, {_free} are free");
        if (_held.ContainsKey(job))
            throw Reject($"job {job} holds nodes already");
        ulong[] words = [.. _freeBits];
        var ranges = ImmutableArray.CreateBuilder<NodeRange>();
        for (int word = 0, missing = count; missing > 0; word++)
        {
            for (; words[word] != 0 && missing > 0; missing--)
            {
                int bit = BitOperations.TrailingZeroCount(words[word]);
                words[word] &= words[word] - 1;
                Extend(ranges, word * BitsPerWord + bit);
            }
        }

        _freeBits = ImmutableCollectionsMarshal.AsImmutableArray(words);
        _free -= count;
        _held = _held.Add(job, ranges.ToImmutable());
    }

    private void ApplyRelease(long job)
    {
        if (!_held.TryGetValue(job, out ImmutableArray<NodeRange> ranges))
            throw Reject($"job {job} holds no nodes");
        ulong[] words = [.. _freeBits];
        foreach (NodeRange range in ranges)
        {
            for (int node = range.First; node < range.First + range.Count; node++)
                words[node / BitsPerWord] |= 1UL << (node % BitsPerWord);
            _free += range.Count;
        }

        _freeBits = ImmutableCollectionsMarshal.AsImmutableArray(words);
        _held = _held.Remove(job);
    }

    private ImmutableArray<NodeRange> ReadHeld(long job) => _held.GetValueOrDefault(job, []);

    private int ReadFree() => _free;

    private int ReadSize() => _size;

    private static void Extend(ImmutableArray<NodeRange>.Builder ranges, int node)
    {
        if (ranges.Count > 0 && ranges[^1].First + ranges[^1].Count == node)
            ranges[^1] = ranges[^1] with { Count = ranges[^1].Count + 1 };
        else
            ranges.Add(new NodeRange(node, 1));
    }
}
