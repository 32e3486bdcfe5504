using Xunit;

namespace Corfu.Conformance;

/// <summary>Appends that declare what they read and write. A log that decides nothing gives no ruling.</summary>
public abstract partial class LogConformance
{
    private static readonly StreamId s_object = new(StreamId.FirstObjectValue);
    private static readonly CellScope s_key = new(s_object, ScopeKind.Keyed, 7);
    private static readonly CellScope s_other = new(s_object, ScopeKind.Keyed, 8);

    [Fact]
    public async Task Record_with_a_read_written_since_is_refused()
    {
        var log = await OpenAsync();
        var since = (await log.CheckAsync([s_object])).Tail;
        var change = new DeclaredRecord([s_key], since, [s_key]);
        var (first, append) = await DecideAsync(log, change, new DeclaredRecord([s_other], since, [s_other]), change);
        var position = append!.Value.Result.Require();
        if (first is null) return;
        Assert.Equal([new Refusal(2, RefusalReason.Written, s_key, position)], first.Refused);

        // The other key is written too; a third one is not.
        var (second, none) = await DecideAsync(log, new DeclaredRecord([s_key], since, [s_other]));
        Assert.Equal((false, null), (second!.IsGranted, none));
        Assert.Equal(position.Next, (await log.CheckAsync([])).Tail);
        var third = new CellScope(s_object, ScopeKind.Keyed, 9);
        Assert.Equal(Ruling.Granted, (await DecideAsync(log, new DeclaredRecord([third], since, [third]))).Ruling);
        Assert.Equal(Ruling.Granted, (await DecideAsync(log, change with { Since = position.Next })).Ruling);
    }

    [Fact]
    public async Task Undeclared_append_writes_streams_whole()
    {
        var log = await OpenAsync();
        var since = (await log.CheckAsync([s_object])).Tail;
        var position = (await log.AppendToObjectsAsync(s_update, [s_object])).Require();
        var change = new DeclaredRecord([s_key], since, [new CellScope(s_object, ScopeKind.Unit)]);
        if (await DecideAsync(log, change) is not ({ } ruling, null)) return;
        Assert.Equal((RefusalReason.Written, position), (ruling.Refused.Single().Reason, ruling.Refused[0].Position));
    }

    [Fact]
    public async Task Tail_that_the_log_has_not_come_to_is_refused()
    {
        var log = await OpenAsync();
        var since = (await log.CheckAsync([s_object])).Tail;
        if (await DecideAsync(log, new DeclaredRecord([s_key], since.Next, [])) is not ({ } ruling, null)) return;
        Assert.Equal(RefusalReason.TooOld, ruling.Refused.Single().Reason);
        Assert.Equal(since, (await log.CheckAsync([])).Tail);
    }

    [Fact]
    public async Task Entry_has_the_payload_made_for_the_ruling()
    {
        var log = await OpenAsync();
        Ruling? seen = Ruling.Granted with { IsGranted = false };
        var (ruling, append) = await log.AppendDecidedAsync([s_object],
            new Declaration([new DeclaredRecord([s_key], null, [])]), s_update.Length, made =>
            {
                seen = made;
                return s_update;
            }, [s_object]);
        Assert.Equal(ruling, seen);
        var read = (await log.ReadManyAsync([append!.Value.Result.Require()]))[0];
        Assert.Equal(s_update, read.Entry!.Payload.ToArray());
        Assert.Equal(default, (await log.AppendDecidedAsync([s_object],
            new Declaration([new DeclaredRecord([s_key], null, [])]), 1, static _ => null, [])).Append);
    }

    private static async Task<DecidedAppend> DecideAsync(ICorfuLog log, params DeclaredRecord[] records) =>
        await log.AppendDecidedAsync([s_object], new Declaration([.. records]), s_update.Length, static _ => s_update,
            [s_object]);
}
