using System.Buffers;
using Corfu;

namespace Tango.Tests.Feeds;

/// <summary>A feed of a group's member.</summary>
public class GroupFeedTests
{
    [Fact]
    public async Task A_feed_makes_no_views_of_the_other_members()
    {
        await using var world = new World();
        var runtime = world.NewRuntime();
        (Accounts Accounts, Counted Counted) opened = (null!, null!);
        await runtime.OpenGroupAsync(
            "group", group => opened = (group.Add<Accounts>("accounts"), group.Add<Counted>("counted")));
        await opened.Counted.PutAsync(1);
        await opened.Accounts.SetAsync("a", 1);
        await runtime.Checkpoints.WriteAsync(opened.Accounts);
        // The outcome of this transaction depends on the other member's versions.
        var late = await HeldTransaction.BeginAsync(runtime, async () =>
        {
            await opened.Counted.SumAsync();
            await opened.Accounts.SetAsync("late", 1);
        });
        await opened.Counted.PutAsync(2);
        Assert.False((await late.EndTxAsync()).IsCommitted);
        await opened.Accounts.SetAsync("a", 3);

        var reader = world.NewRuntime(
            new TangoOptions { Types = new TangoTypeRegistry().Add<Accounts>().Add<Counted>() });
        var views = Counted.Created;
        var changes = await reader.ChangesAsync(ChangePlace.Before(LogPosition.Zero)).TakeAsync(2);
        Assert.Equal(["Set a 1", "Set a 3"], changes.Select(FeedReader.Describe));
        Assert.Equal(views, Counted.Created);
    }

    /// <summary>Counts the views and handles that are made of it.</summary>
    private sealed class Counted : TangoObject, ITangoObject<Counted>
    {
        private static readonly MutatorInfo s_put = new(1, "Put", Reads: false);
        private static readonly TangoObjectType s_type =
            new("test-counted", static () => new Counted(), static _ => { }, s_put);
        private static int s_created;
        private long _sum;

        public Counted() => Interlocked.Increment(ref s_created);

        public static int Created => Volatile.Read(ref s_created);

        static TangoObjectType ITangoObject<Counted>.ObjectType => s_type;

        public ValueTask PutAsync(long value)
        {
            var arguments = new ArgumentBuffer();
            Wire.WriteInt64(arguments, value);
            return UpdateHelperAsync(s_put, ObjectKey.None, arguments, default);
        }

        public ValueTask<long> SumAsync() => QueryHelperAsync<Counted, ValueTuple, long>(
            ObjectKey.None, default, static (view, _) => view._sum, default);

        void ITangoView.Apply(int mutator, ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> arguments,
            in ApplyContext context) => _sum += Wire.ReadInt64(ref arguments);

        void ITangoView.SaveState(IBufferWriter<byte> writer) => Wire.WriteInt64(writer, _sum);

        void ITangoView.LoadState(ReadOnlyMemory<byte> state) => _sum = Wire.ReadInt64(ref state);
    }
}
