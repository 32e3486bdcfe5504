namespace Corfu.WebConsole.Reading;

/// <summary>A call of one object in a window of the log.</summary>
/// <param name="IsLost">The call belongs to a transaction that lost, so that it had no effect.</param>
public sealed record ObjectChange(
    RecordPlace Place, DateTimeOffset? WriterTime, TangoCallRecord Call, bool IsTransaction, bool IsLost)
{
    /// <summary>The object's calls, in the order of the log.</summary>
    public static ImmutableArray<ObjectChange> Of(
        ulong id, ImmutableArray<LogItem> window, ImmutableArray<JudgedTransaction> transactions)
    {
        var updates = from item in window
                      from update in item.Records.OfType<UpdateRecord>()
                      where update.Call.Object == id
                      select new ObjectChange(
                          new RecordPlace(item.Position.Offset, update.Index), item.WriterTime, update.Call, false,
                          false);
        var writes = from transaction in transactions
                     from write in transaction.Writes
                     where write.Object == id
                     select new ObjectChange(
                         transaction.Place, transaction.WriterTime, write, true,
                         transaction.Outcome == Outcome.Aborted);
        return [.. updates.Concat(writes).OrderBy(static change => change.Place)];
    }
}
