using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;
using Corfu.Protocol;
using Corfu.Simulation.Checkers;
using Corfu.Simulation.Cluster;
using Tango;
using Tango.Formatting;

namespace Corfu.Simulation.Workload;

public sealed partial class TangoWorkload
{
    /// <summary>Notes where the values of updates and commit records stand, from the bytes of an entry alone. Entries
    /// come in log order.</summary>
    public static void Locate(TxHistory history, LogEntry entry, ClusterMonitor monitor)
    {
        long position = entry.Position.Offset;
        if (!history.Located.Add(position) || IsOfCheckpoint(entry)) return;
        int order = 0;
        var reader = new MessagePackReader(entry.Payload);
        reader.ReadArrayHeader();
        for (int i = 0; i < 3; i++) reader.SkipValue();
        for (int left = reader.ReadArrayHeader(), index = 0; left > 0; left--, index++)
        {
            var record = new MessagePackReader(reader.ReadRaw());
            MessagePackReader whole = record;
            int elements = record.ReadArrayHeader();
            var kind = (RecordKind)record.ReadInt32();
            if (kind == RecordKind.Spill)
            {
                history.Spilled.Add((position, index), [.. ValuesIn(whole.ReadRaw().ToArray())]);
                monitor.Mark("transaction spilled");
                continue;
            }

            if (kind == RecordKind.Commit)
            {
                for (int i = 2; i < elements; i++) record.SkipValue();
                foreach (long value in SpilledValues(history, ref record)) Place(value);
            }

            foreach (long value in ValuesIn(whole.ReadRaw().ToArray())) Place(value);
        }

        void Place(long value)
        {
            if (history.Places.TryAdd(value, (position, order++))) return;
            monitor.Found(CheckerNames.ExactlyOnce,
                $"the write of {value} stands at {history.Places[value].Position} and again at {position}");
        }
    }

    /// <param name="reader">At a commit record's list of spills.</param>
    private static List<long> SpilledValues(TxHistory history, ref MessagePackReader reader)
    {
        List<long> values = [];
        for (int left = reader.ReadArrayHeader(); left > 0; left--)
        {
            reader.ReadArrayHeader();
            long position = reader.ReadInt64();
            int index = reader.ReadInt32();
            reader.SkipValue();
            values.AddRange(history.Spilled[(position, index)]);
        }

        return values;
    }

    private static IEnumerable<long> ValuesIn(ReadOnlySpan<byte> record) =>
        ValuePattern().Matches(Encoding.Latin1.GetString(record))
            .Select(static match => long.Parse(match.Groups[1].ValueSpan, CultureInfo.InvariantCulture));

    [GeneratedRegex("v([0-9]{7}):-?[0-9]+")]
    private static partial Regex ValuePattern();
}
