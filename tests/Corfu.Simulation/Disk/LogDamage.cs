using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Corfu.Unit;

namespace Corfu.Simulation.Disk;

/// <summary>
/// Chooses what of a unit's log decays: the payload of a page. What the unit needs to start at all is spared, and so is what may still pass for a torn tail (R6): without
/// a later record that proves the page durable, its damage cannot be told from a write that was never acknowledged.
/// </summary>
internal static class LogDamage
{
    /// <param name="isReplaceable">Whether others hold the page of a position too.</param>
    public static (int From, int Length)? Choose(ReadOnlySpan<byte> log, SimRandom random, Func<LogPosition, bool> isReplaceable)
    {
        List<(int From, int Length, LogPosition Position)> payloads = [];
        long floor = 0;
        for (int at = 0; at + RecordCodec.HeaderSize <= log.Length;)
        {
            if (!RecordCodec.TryDecode(log[at..], at, out RecordHeader header))
            {
                at += RecordCodec.Alignment;
                continue;
            }

            floor = Math.Max(floor, header.Floor);
            if (header.Kind == RecordKind.Page && header.CheckedLength < header.BodyLength)
                payloads.Add((at + RecordCodec.HeaderSize + header.CheckedLength, header.BodyLength - header.CheckedLength, header.Position));
            at = RecordCodec.Align(at + RecordCodec.HeaderSize + header.BodyLength);
        }

        payloads.RemoveAll(p => RecordCodec.Align((long)p.From + p.Length) > floor || !isReplaceable(p.Position));
        return payloads.Count == 0 ? null : random.Pick(payloads) is var chosen ? (chosen.From, chosen.Length) : null;
    }
}
