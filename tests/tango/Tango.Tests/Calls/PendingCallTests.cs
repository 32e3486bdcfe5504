using System.Collections.Immutable;
using Corfu;
using Tango.Calls;
using Tango.Records;
using Tango.Testing;

namespace Tango.Tests.Calls;

/// <summary>The states of one caller's record, and what its caller is told.</summary>
public class PendingCallTests
{
    private static readonly RecordVersion s_version = new(new LogPosition(10), 0);
    private static readonly AppendResult s_append = new(AppendOutcome.Appended, new LogPosition(10), default);
    private static readonly string[] s_sending = ["Sent", "Placed", "Appended"];
    private static readonly string[] s_playing = ["Applied", "Publish"];

    /// <summary>From, news, state that follows, and what the caller is told. Without a state it is illegal.</summary>
    public static TheoryData<string, string, string?, string> News => new()
    {
        { "Queued", "Sent", "Sent", "" },
        { "Queued", "Placed", null, "" },
        { "Queued", "Appended", null, "" },
        { "Queued", "Applied", null, "" },
        { "Queued", "Publish", null, "" },
        { "Queued", "InDoubt", null, "" },
        { "Queued", "Cancel", "Told", "failed" },
        { "Sent", "Sent", null, "" },
        { "Sent", "Placed", "Placed", "" },
        { "Sent", "Appended", null, "" },
        { "Sent", "Applied", "Applied", "" },
        { "Sent", "Publish", null, "" },
        { "Sent", "InDoubt", "Told", "in doubt" },
        { "Sent", "Failed", "Told", "failed" },
        { "Sent", "Cancel", "Sent", "cancelled" },
        { "Placed", "Sent", null, "" },
        { "Placed", "Placed", null, "" },
        { "Placed", "Appended", "Appended", "" },
        { "Placed", "Applied", "Applied", "" },
        { "Placed", "Publish", null, "" },
        { "Placed", "InDoubt", "Told", "in doubt" },
        { "Placed", "Failed", null, "" },
        { "Placed", "Cancel", "Placed", "cancelled" },
        { "Appended", "Placed", null, "" },
        { "Appended", "Appended", null, "" },
        { "Appended", "Applied", "Applied", "" },
        { "Appended", "Publish", null, "" },
        { "Appended", "InDoubt", "Told", "in doubt" },
        { "Appended", "Failed", null, "" },
        { "Appended", "Cancel", "Appended", "cancelled" },
        { "Applied", "Sent", null, "" },
        // The append returns after playback has met the record.
        { "Applied", "Placed", "Applied", "" },
        { "Applied", "Appended", "Applied", "" },
        { "Applied", "Applied", null, "" },
        { "Applied", "Publish", "Told", "published" },
        { "Applied", "InDoubt", "Told", "in doubt" },
        // The log has broken its contract.
        { "Applied", "Failed", "Told", "in doubt" },
        { "Applied", "Cancel", "Applied", "cancelled" },
        { "Told", "Placed", "Told", "" },
        { "Told", "Appended", "Told", "" },
        { "Told", "Applied", "Told", "" },
        { "Told", "Publish", "Told", "" },
        { "Told", "InDoubt", "Told", "" },
        { "Told", "Failed", "Told", "" },
    };

    [Theory]
    [MemberData(nameof(News))]
    public void Call_in_a_state_moves_as_the_diagram_says(string from, string news, string? to, string told)
    {
        var call = In(from);
        call.Told.Clear();
        if (to is null)
        {
            Assert.Throws<InvalidOperationException>(() => Tell(call, news));
            Assert.Equal(from, call.State.ToString());
        }
        else
        {
            Tell(call, news);
            Assert.Equal(to, call.State.ToString());
        }

        Assert.Equal(told, string.Join(", ", call.Told));
    }

    /// <summary>Playback may meet the record at any time once it was sent.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Call_in_every_order_of_append_and_playback_is_told_once(bool needsPlayback)
    {
        foreach (var order in Merge([.. s_sending.Skip(1)], s_playing))
        {
            var call = new RecordedCall(needsPlayback);
            Tell(call, "Sent");
            foreach (var news in order) Tell(call, news);
            Assert.Equal("Told", call.State.ToString());
            Assert.True(call.Told is ["published"] || (!needsPlayback && call.Told is ["durable"]));
        }
    }

    [Fact]
    public void Record_that_no_caller_waits_to_see_played_is_answered_by_the_append()
    {
        var call = new RecordedCall(needsPlayback: false);
        Tell(call, "Sent");
        // Playback has passed the record over: its object is not hosted here.
        Tell(call, "Publish");
        Assert.Empty(call.Told);
        Tell(call, "Placed");
        Tell(call, "Appended");
        Assert.Equal("durable", Assert.Single(call.Told));
    }

    [Fact]
    public async Task Caller_that_cancels_a_sent_commit_learns_the_outcome_later()
    {
        var call = NewCommit();
        call.TryBecomeSent();
        call.Cancel(new CancellationToken(true));
        var inDoubt = Assert.IsType<TxOutcome.InDoubt>(await call.Task);
        Assert.False(inDoubt.Later!.IsCompleted);
        call.Cancel(new CancellationToken(true));
        call.BecomeApplied(new TxOutcome.Committed(s_version));
        call.Publish();
        Assert.IsType<TxOutcome.Committed>(await inDoubt.Later);
    }

    /// <summary>The call was told twice then: the outcome that was found later was none, and resolving it returned
    /// null.</summary>
    [Fact]
    public async Task Answered_commit_is_unchanged_by_a_caller_that_cancels()
    {
        var call = NewCommit();
        call.TryBecomeSent();
        call.BecomeInDoubt(s_version.Position, "The record cannot be read", null);
        call.Publish();
        call.Cancel(new CancellationToken(true));
        var inDoubt = Assert.IsType<TxOutcome.InDoubt>(await call.Task);
        Assert.Equal((s_version.Position, null), (inDoubt.Position, inDoubt.Later));
    }

    /// <summary>Whether playback or the append's answer comes first, and whatever playback finds: the caller hears the
    /// same. Where playback was first, the commit was in doubt, or told its rejected writes.</summary>
    [Theory]
    [InlineData(true, true)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(false, false)]
    public async Task Commit_without_playback_is_answered_by_the_append(bool playedFirst, bool isKnown)
    {
        var call = NewCommit(awaitsPlayback: false);
        call.TryBecomeSent();
        if (playedFirst) Play();
        call.BecomePlaced(s_append, 0);
        call.BecomeAppended(s_version);
        if (!playedFirst) Play();
        var committed = Assert.IsType<TxOutcome.Committed>(await call.Task);
        Assert.Equal((s_version, 0), (committed.Version, committed.RejectedWrites));

        void Play()
        {
            if (isKnown) call.BecomeApplied(new TxOutcome.Committed(s_version, 3));
            else call.BecomeUnplayed(s_version.Position, "An object has stopped", null);
            call.Publish();
        }
    }

    private static CommitCall NewCommit(bool awaitsPlayback = true) => new(
        new byte[1], [new StreamId(256)], awaitsPlayback ? new NoPlayback() : null, SpillList.Empty, 1000,
        new DirectoryEntry(new ObjectId(256), "written", "test", null, 16))
    { Log = new InMemoryCorfuLog() };

    private static RecordedCall In(string state)
    {
        var call = new RecordedCall(needsPlayback: true);
        string[] before = state switch
        {
            "Queued" => [],
            "Applied" => ["Sent", "Applied"],
            "Told" => ["Sent", "InDoubt"],
            _ => s_sending[..(Array.IndexOf(s_sending, state) + 1)],
        };
        foreach (var news in before) Tell(call, news);
        Assert.Equal(state, call.State.ToString());
        return call;
    }

    private static void Tell(RecordedCall call, string news)
    {
        switch (news)
        {
            case "Sent":
                Assert.True(call.TryBecomeSent());
                break;
            case "Placed":
                call.BecomePlaced(s_append, 0);
                break;
            case "Appended":
                call.BecomeAppended(s_version);
                break;
            case "Applied":
                call.BecomeApplied(null, null);
                break;
            case "Publish":
                call.Publish();
                break;
            case "InDoubt":
                call.BecomeInDoubt(s_version.Position, "unknown", null);
                break;
            case "Failed":
                call.BecomeFailed(new TangoException("refused"));
                break;
            default:
                call.Cancel(new CancellationToken(true));
                break;
        }
    }

    private static IEnumerable<string[]> Merge(string[] a, string[] b)
    {
        if (a.Length == 0 || b.Length == 0) return [[.. a, .. b]];
        return Merge(a[1..], b).Select(rest => (string[])[a[0], .. rest])
            .Concat(Merge(a, b[1..]).Select(rest => (string[])[b[0], .. rest]));
    }

    private sealed class NoPlayback : IPlayedEntries
    {
        public ImmutableArray<StreamId> Followed => [];

        public ValueTask PlayToAsync(LogPosition end, AppendedEntry? placed, CancellationToken cancellationToken) =>
            default;
    }

    private sealed class RecordedCall(bool needsPlayback)
        : PendingCall(new byte[1], [new StreamId(256)], needsPlayback ? new NoPlayback() : null)
    {
        public List<string> Told { get; } = [];

        protected override void TellDurable(RecordVersion version) => Told.Add("durable");

        protected override void TellPublished() => Told.Add("published");

        protected override void TellInDoubt(LogPosition? position, string message, Exception? reason) =>
            Told.Add("in doubt");

        protected override void TellFailed(Exception reason) => Told.Add("failed");

        protected override void TellCancelled(string message, OperationCanceledException reason) =>
            Told.Add("cancelled");
    }
}
