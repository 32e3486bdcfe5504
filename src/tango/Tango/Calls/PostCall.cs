using System.Collections.Immutable;
using Corfu;
using Microsoft.Extensions.Logging;

namespace Tango.Calls;

/// <summary>An update for which no task waits: see <see cref="IPostSink"/>.</summary>
/// <param name="played">Plays the record once it is in the log, if it is hosted here.</param>
internal sealed class PostCall(ReadOnlyMemory<byte> record, ImmutableArray<StreamId> streams, IPlayedEntries? played,
    IPostSink sink, ILogger logger)
    : PendingCall(record, streams, played)
{
    public override bool IsPost => true;

    protected override void TellDurable(RecordVersion version) => Tell(() => sink.OnAppended(version));

    protected override void TellPublished() =>
        throw new InvalidOperationException("Playback does not hear of posts");

    protected override void TellInDoubt(LogPosition? position, string message, Exception? reason)
    {
        var why = reason is null ? "" : $": {reason.Message}";
        Tell(() => sink.OnInDoubt(new TangoInDoubtException(message + why, reason)));
    }

    protected override void TellFailed(Exception reason) => Tell(() => sink.OnFailed(reason));

    // The other callers of the batch hear their answers in any case.
    private void Tell(Action tell)
    {
        try
        {
            tell();
        }
        catch (Exception e)
        {
            LogFailure(e);
        }
    }

    private void LogFailure(Exception reason)
    {
        try
        {
            logger.LogCritical(reason, "A sink of posts has failed");
        }
        catch (Exception)
        {
            // The program's logger.
        }
    }
}
