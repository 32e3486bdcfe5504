using System.Globalization;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Disk;
using Corfu.Storage;
using Corfu.Unit;

namespace Corfu.Simulation.Disk;

/// <summary>
/// Chooses what of a unit's log decays: the payload of a page. What the unit needs to start at all is spared, and so is
/// what may still pass for a torn tail (R6): without a later record that proves the page durable, its damage cannot be
/// told from a write that was never acknowledged.
/// </summary>
internal static class LogDamage
{
    /// <param name="isReplaceable">Whether others hold the page of a position too.</param>
    public static (string Name, int From, int Length)? Choose(
        IReadOnlyList<(string Name, ReadOnlyMemory<byte> Bytes)> log, int segmentSize, SimRandom random,
        Func<LogPosition, bool> isReplaceable)
    {
        List<(string Name, int From, int Length, LogPosition Position, long End)> payloads = [];
        long floor = 0;
        foreach ((string name, ReadOnlyMemory<byte> bytes) in log)
        {
            long begin =
                long.Parse(name.AsSpan(SimSegmentFiles.Prefix.Length), CultureInfo.InvariantCulture) * segmentSize;
            for (int at = 0; at + RecordCodec.HeaderSize <= bytes.Length;)
            {
                if (!RecordCodec.TryDecode(bytes.Span[at..], begin + at, out RecordHeader header))
                {
                    at += IRecordLog.Alignment;
                    continue;
                }

                floor = Math.Max(floor, header.Floor);
                int from = at + RecordCodec.HeaderSize + header.CheckedLength;
                at = IRecordLog.Align(at + RecordCodec.HeaderSize + header.BodyLength);
                if (header.Kind is RecordKind.Page or RecordKind.Moved && header.CheckedLength < header.BodyLength)
                    payloads.Add((name, from, header.BodyLength - header.CheckedLength, header.Position, begin + at));
            }
        }

        payloads.RemoveAll(p => p.End > floor || !isReplaceable(p.Position));
        return payloads.Count == 0
            ? null
            : random.Pick(payloads) is var chosen ? (chosen.Name, chosen.From, chosen.Length) : null;
    }
}
