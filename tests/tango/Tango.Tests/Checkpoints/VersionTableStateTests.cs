using System.Collections.Immutable;
using Corfu;
using Tango.Checkpoints;
using Tango.Model;
using Tango.Playback;

namespace Tango.Tests.Checkpoints;

/// <summary>R18, R21: a restored version table decides as the captured one does, then and for ever.</summary>
public class VersionTableStateTests
{
    public static TheoryData<int> Seeds => [.. Enumerable.Range(1, 50)];

    [Theory]
    [MemberData(nameof(Seeds))]
    public void A_restored_table_decides_as_the_captured_one(int seed)
    {
        var random = new Random(seed);
        const int Capacity = 8;
        var maxAge = seed % 2 == 0 ? random.Next(1, 12) : long.MaxValue;
        var captured = new VersionTable(Capacity);
        var position = Write(captured, random, random.Next(60), 0, maxAge);
        var state = captured.Capture();
        var restored = new VersionTable(Capacity);
        restored.Restore(state);
        Assert.Equal(captured.LastWriteEnd, restored.LastWriteEnd);
        for (var step = 0; step < 30; step++)
        {
            RequireSame(captured, restored, position);
            var next = random.Next();
            Write(captured, new Random(next), 1, position, maxAge);
            position = Write(restored, new Random(next), 1, position, maxAge);
        }

        // The captured state is not changed by later writes.
        var again = new VersionTable(Capacity);
        again.Restore(state);
        Assert.Equal(
            state.Keys.Select(static known => (known.Key[0], known.Version)),
            again.Capture().Keys.Select(static known => (known.Key[0], known.Version)));
    }

    private static long Write(VersionTable table, Random random, int writes, long position, long maxAge)
    {
        for (; writes > 0; writes--)
        {
            position += random.Next(1, 3);
            var version = new RecordVersion(new LogPosition(position), random.Next(3));
            var hasKey = random.Next(15) > 0;
            table.Write(hasKey, hasKey ? [(byte)random.Next(14)] : [], version, maxAge);
        }

        return position;
    }

    private static void RequireSame(VersionTable one, VersionTable other, long upTo)
    {
        for (var end = 0L; end <= upTo + 1; end++)
        {
            for (var key = -1; key < 14; key++)
            {
                ImmutableArray<byte> bytes = key < 0 ? [] : [(byte)key];
                one.TryFindConflict(key >= 0, bytes.AsSpan(), new LogPosition(end), out var expected);
                other.TryFindConflict(key >= 0, bytes.AsSpan(), new LogPosition(end), out var actual);
                Assert.Equal(expected, actual);
            }
        }
    }
}
