using MessagePack;
using Tango.Formatting;

namespace Tango;

/// <summary>A transaction had no effect, and is not tried again.</summary>
public sealed class TangoAbortedException : TangoException
{
    internal TangoAbortedException(TxOutcome.Aborted outcome, int? attempts = null)
        : this(outcome, attempts is null
            ? $"The transaction aborted: {Reason(outcome)}"
            : $"The transaction aborted {attempts} times, the last time because {Reason(outcome)}")
    {
    }

    private TangoAbortedException(TxOutcome.Aborted outcome, string message)
        : base(message) => Outcome = outcome;

    /// <summary>The object, key and position that the transaction lost to, the last time.</summary>
    public TxOutcome.Aborted Outcome { get; }

    /// <summary>R19: the log grows by more than the span while the transaction's writes are spilled, as it will the
    /// next time.</summary>
    internal static TangoAbortedException OfSpan(
        TxOutcome.Aborted outcome, int attempts, long maxSpan, TimeSpan spilling) => new(
            outcome,
            $"The transaction aborted {attempts} times because {Reason(outcome)}. It took "
            + $"{spilling.TotalSeconds:0.###} s, and the log's span is {maxSpan} positions: write less at once, or "
            + "when others write less");

    private static string Reason(TxOutcome.Aborted outcome) => outcome.Reason switch
    {
        AbortReason.Conflict => $"{Read(outcome)} was written at {outcome.ConflictingWrite} after it had been read",
        AbortReason.SnapshotTooOld => $"it is not known any more whether {Read(outcome)} was written after it had been "
            + $"read: versions below {outcome.ConflictingWrite} are forgotten",
        AbortReason.NotWritten => "its commit record did not come into the log",
        _ => $"it took too long from its first spilled write to its commit record, at {outcome.ConflictingWrite}",
    };

    private static string Read(TxOutcome.Aborted outcome) => outcome.Key.IsNone
        ? $"'{outcome.ObjectName}'"
        : $"key {Text(outcome.Key)} of '{outcome.ObjectName}'";

    // Values one after the other, of types that are not known here.
    private static string Text(ObjectKey key)
    {
        try
        {
            var parts = new List<string>();
            var reader = new MessagePackReader(key.Memory);
            while (!reader.End)
            {
                var start = (int)reader.Consumed;
                reader.Skip();
                parts.Add(MessagePackSerializer.ConvertToJson(
                    key.Memory[start..(int)reader.Consumed], TangoFormatters.Options));
            }

            return string.Join(", ", parts);
        }
        catch (Exception e) when (e is MessagePackSerializationException or EndOfStreamException)
        {
            return key.ToString();
        }
    }
}
