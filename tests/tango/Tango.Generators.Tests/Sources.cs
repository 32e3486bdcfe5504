namespace Tango.Generators.Tests;

internal static class Sources
{
    public const string NodePool =
        """
        namespace Cluster;

        [TangoObject("node-pool")]
        public sealed partial class NodePool : TangoObject
        {
            private ImmutableSortedSet<int> _free = ImmutableSortedSet<int>.Empty;
            private ImmutableDictionary<long, ImmutableArray<int>> _held =
                ImmutableDictionary<long, ImmutableArray<int>>.Empty;

            [Mutator(1, MayReject = true)]
            public partial ValueTask<int[]> AllocateAsync(
                long job, int count, CancellationToken ct = default);

            [Mutator(2)]
            public partial ValueTask ReleaseAsync([VersionKey] long job, CancellationToken ct = default);

            [Mutator(3)]
            public partial ValueTask AddNodesAsync(int first, int count);

            [Accessor]
            public partial ValueTask<int> FreeAsync(CancellationToken ct = default);

            [Accessor]
            internal partial ValueTask<(bool, string?)> HoldsAsync(
                [VersionKey] long job, string? @class, CancellationToken ct = default);

            private int[] ApplyAllocate(long job, int count)
            {
                if (_free.Count < count) throw Reject("not enough nodes");
                int[] taken = [.. _free.Take(count)];
                _free = _free.Except(taken);
                _held = _held.SetItem(job, [.. taken]);
                return taken;
            }

            private void ApplyRelease(long job)
            {
                if (!_held.TryGetValue(job, out var nodes)) return;
                _free = _free.Union(nodes);
                _held = _held.Remove(job);
            }

            private void ApplyAddNodes(int first, int count) => _free = _free.Union(Enumerable.Range(first, count));

            private int ReadFree() => _free.Count;

            private (bool, string?) ReadHolds(long job, string? @class) => (_held.ContainsKey(job), @class);
        }
        """;

    /// <summary>An object around the members under test.</summary>
    public static string Object(string members) =>
        $$"""
        [TangoObject("t")]
        public sealed partial class Subject : TangoObject
        {
        {{members}}
        }
        """;
}
