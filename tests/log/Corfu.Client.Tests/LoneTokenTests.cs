using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;

namespace Corfu.Client.Tests;

/// <summary>A lone append goes on with its write on the thread that brings its token. The caller's code never runs
/// there: it may block, and the token of the append that it waits for would not arrive.</summary>
public sealed class LoneTokenTests
{
    [Fact]
    public async Task Write_begins_on_the_thread_that_brings_the_token()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var receiver = new Receiver(cluster);
        var append = receiver.Begin(cluster.Client(), default);
        receiver.BringToken();
        Assert.True((await append).Result.IsAppended);
        Assert.True(receiver.HasWritten);
    }

    [Fact]
    public async Task Caller_whose_bound_is_reached_resumes_elsewhere()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var receiver = new Receiver(cluster);
        var append = receiver.Begin(cluster.Client(), new AppendTerms(null, LogPosition.Zero.Next));
        receiver.BringToken();
        var (result, isReceiver) = await append;
        Assert.True(result.IsAppended);
        Assert.False(isReceiver);

        // The first position is taken: the next one is at the bound.
        receiver = new Receiver(cluster);
        append = receiver.Begin(cluster.Client(), new AppendTerms(null, LogPosition.Zero.Next));
        receiver.BringToken();
        (result, isReceiver) = await append;
        Assert.Equal(AppendOutcome.NotAppended, result.Outcome);
        Assert.False(isReceiver);
        Assert.False(receiver.HasWritten);
    }

    [Fact]
    public async Task Caller_whose_token_is_refused_resumes_elsewhere()
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var receiver = new Receiver(cluster);
        cluster.Transport.Answer = request => request is TokenRequest ? request.Fail(Status.Denied, Epoch.First) : null;
        var append = receiver.Begin(cluster.Client(), default);
        receiver.BringToken();
        await Assert.ThrowsAnyAsync<CorfuException>(() => append);
        Assert.False(receiver.HasFailedThere);
    }

    /// <summary>Holds the request for a token until a thread of its own lets it through.</summary>
    private sealed class Receiver
    {
        // No option: what waits for it goes on within the call that completes it.
        private readonly TaskCompletionSource _token = new();
        private readonly Thread _thread;

        public Receiver(TestCluster cluster)
        {
            _thread = new Thread(_token.SetResult);
            cluster.Transport.Faults = async (_, request) =>
            {
                if (request is TokenRequest) await _token.Task;
                HasWritten |= request is WriteRequest && IsHere;
                return Fault.None;
            };
        }

        public bool HasWritten { get; private set; }

        public bool HasFailedThere { get; private set; }

        private bool IsHere => Thread.CurrentThread == _thread;

        /// <returns>The result, and whether the caller has it on the receiver's thread. The append waits for its token
        /// by then: the caller's thread has no context, and ends before the token is let through.</returns>
        public Task<(AppendResult Result, bool IsReceiver)> Begin(CorfuClient client, AppendTerms terms)
        {
            Task<(AppendResult, bool)>? append = null;
            var caller = new Thread(() => append = AppendAsync(client, terms));
            caller.Start();
            caller.Join();
            return append!;
        }

        private async Task<(AppendResult Result, bool IsReceiver)> AppendAsync(CorfuClient client, AppendTerms terms)
        {
            try
            {
                var result = await client.AppendAsync(new byte[] { 1 }, [], terms, default);
                return (result, IsHere);
            }
            catch (CorfuException)
            {
                HasFailedThere = IsHere;
                throw;
            }
        }

        public void BringToken()
        {
            _thread.Start();
            _thread.Join();
        }
    }
}
