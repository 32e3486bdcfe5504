using Tango.Calls;
using Tango.Testing;

namespace Tango.Tests;

/// <summary>An update in doubt is looked up by its place, and never sent again.</summary>
public sealed class UpdateFateTests
{
    private static readonly TangoOptions s_noResolving = new() { MaxResolveAttempts = 0 };

    [Theory]
    [InlineData(AppendFault.WrittenButUnknown, UpdateFate.Written)]
    [InlineData(AppendFault.LostAndUnknown, UpdateFate.NotWritten)]
    public async Task Fate_of_an_update_in_doubt_follows_from_the_log(AppendFault fault, UpdateFate expected)
    {
        var next = AppendFault.None;
        await using var world = new World(new InMemoryLogOptions { NextAppendFault = () => next });
        var runtime = world.NewRuntime(s_noResolving);
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        next = fault;
        var doubt = await Assert.ThrowsAsync<TangoInDoubtException>(async () => await accounts.AddAsync("x", 1));
        next = AppendFault.None;
        var fate = await runtime.ResolveUpdateAsync(doubt);
        Assert.Equal(expected, fate.Fate);
        Assert.Equal(expected == UpdateFate.Written, fate.Place is not null);
        Assert.Equal(fate, await runtime.ResolveUpdateAsync(doubt));
        Assert.Equal(expected == UpdateFate.Written ? 1 : 0, await accounts.BalanceAsync("x"));
    }

    [Fact]
    public async Task Fate_of_a_cancelled_update_is_known_once_the_append_has_ended()
    {
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        gate.SetResult();
        var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var world = new World(new InMemoryLogOptions
        {
            AroundAppend = async _ =>
            {
                begun.TrySetResult();
                await gate.Task;
            },
        });
        var (runtime, accounts) = await world.OpenAccountsAsync();
        gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var stop = new CancellationTokenSource();
        var update = accounts.AddAsync("x", 1, stop.Token).AsTask();
        await begun.Task;
        await stop.CancelAsync();
        var doubt = await Assert.ThrowsAsync<TangoInDoubtException>(() => update);
        var fate = runtime.ResolveUpdateAsync(doubt).AsTask();
        gate.SetResult();
        Assert.Equal(UpdateFate.Written, (await fate).Fate);
        Assert.Equal(1, await accounts.BalanceAsync("x"));
    }

    [Fact]
    public void Caller_that_cancels_as_the_call_ends_in_doubt_has_no_more_to_wait_for()
    {
        var call = new EndingCall();
        Assert.True(call.TryBecomeSent());
        call.Cancel(new CancellationToken(canceled: true));
        Assert.True(call.Later!.IsCompleted);
    }

    [Fact]
    public async Task Exception_of_another_kind_has_no_fate_to_look_up()
    {
        await using var world = new World();
        var (runtime, _) = await world.OpenAccountsAsync();
        await Assert.ThrowsAsync<ArgumentException>(
            async () => await runtime.ResolveUpdateAsync(new TangoInDoubtException("made by hand")));
    }

    /// <summary>A call that ends while its caller cancels.</summary>
    private sealed class EndingCall() : UpdateCall(default, [], null)
    {
        protected override void TellCancelled(string message, OperationCanceledException reason)
        {
            BecomeInDoubt(null, "as asked", null);
            base.TellCancelled(message, reason);
        }
    }
}
