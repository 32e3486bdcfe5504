using Corfu.Hosting;
using NamenodeSample.Journaling;
using NamenodeSample.Serving;
using NamenodeSample.Tree;
using Tango;
using Tango.Collections;

namespace NamenodeSample.Tests;

/// <summary>An active that another has taken the place of, in the orders in which it can find out.</summary>
public sealed class ActiveTests : IAsyncLifetime
{
    private static readonly TimeSpan s_lease = TimeSpan.FromHours(1);

    private readonly SharedTree _tree = new();
    private EmbeddedCluster _cluster = null!;
    private Journal _journal = null!;
    private HeldLock _held = null!;
    private Active _active = null!;

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        _cluster = await EmbeddedCluster.StartAsync(cancellationToken: Stop);
        _journal = await Journal.OpenAsync(_cluster.ConnectionString, Stop);
        _held = await _journal.Election.CampaignAsync("first", s_lease, Stop);
        _active = await Active.BeginAsync(_journal, _tree, _held.FencingToken, Stop);
    }

    public async ValueTask DisposeAsync()
    {
        await _active.DisposeAsync();
        await _held.DisposeAsync();
        await _journal.DisposeAsync();
        await _cluster.DisposeAsync();
    }

    [Fact]
    public async Task Active_that_is_elected_may_write()
    {
        Assert.Equal("done 1 1", await MakeAsync(1));
        await _active.AskLedgerAsync(Stop);
    }

    [Fact]
    public async Task Recovered_ledger_tells_the_active_of_a_lost_lease()
    {
        Assert.Equal("done 1 1", await MakeAsync(1));
        await TakeOverAsync();
        await Assert.ThrowsAsync<TangoLeaseLostException>(() => _active.AskLedgerAsync(Stop));
    }

    [Fact]
    public async Task Fenced_edit_tells_the_active_of_a_lost_lease()
    {
        await TakeOverAsync();
        Assert.Null(await MakeAsync(1));
        await Assert.ThrowsAsync<TangoLeaseLostException>(() => _active.AskLedgerAsync(Stop));
    }

    /// <summary>A failed roll had left a ledger that was in no list and without a fence: the mark went there.</summary>
    [Fact]
    public async Task Refused_roll_tells_the_active_of_a_lost_lease()
    {
        const int Roll = 61;
        for (var number = 1; number < Roll; number++)
            Assert.Equal($"done {number} {number}", await MakeAsync(number));
        await _journal.Election.Lock.ReleaseAsync(_held.FencingToken, Stop);
        Assert.Null(await MakeAsync(Roll));
        await Assert.ThrowsAsync<TangoLeaseLostException>(() => _active.AskLedgerAsync(Stop));
    }

    [Fact]
    public async Task Segment_is_as_long_as_the_tree_was_at_the_image()
    {
        const int Names = 200;
        const int Roll = 61;
        string deep = string.Concat(Enumerable.Repeat("/d", Names));
        await _active.DoAsync("client", 1, new Operation(Verb.Mkdir, deep, Value: (long)Options.Parents), Stop);
        await SetAsync(2, Roll);
        await _journal.Segments.WaitForAsync(
            static (list, token) => list.SnapshotAsync(token), static list => list.Exists(static part => part.IsImage),
            Stop);
        await SetAsync(Roll + 1, Roll + Names);
        Assert.Equal(Roll + 1, (await _journal.Segments.SnapshotAsync(Stop))[^1].First);
        await SetAsync(Roll + Names + 1, Roll + 2 * Names);
        Assert.NotEqual(Roll + 1, (await _journal.Segments.SnapshotAsync(Stop))[^1].First);
    }

    private async Task SetAsync(int first, int last)
    {
        for (int number = first; number <= last; number++)
        {
            Assert.Equal($"done {number} 1", await _active.DoAsync(
                "client", number, new Operation(Verb.SetMode, "/d", Value: number), Stop));
        }
    }

    private Task<string?> MakeAsync(int number) =>
        _active.DoAsync("client", number, new Operation(Verb.Mkdir, $"/d{number}"), Stop);

    private async Task TakeOverAsync()
    {
        await _journal.Election.Lock.ReleaseAsync(_held.FencingToken, Stop);
        await using Journal journal = await Journal.OpenAsync(_cluster.ConnectionString, Stop);
        await using HeldLock held = await journal.Election.CampaignAsync("second", s_lease, Stop);
        await new JournalTail(journal, new SharedTree()).RecoverAsync(Stop);
    }
}
