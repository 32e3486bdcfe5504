using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Agent.Tests.Detection;

public sealed class ProbeBudgetTests
{
    private const int Questions = 500;

    /// <summary>Each question names another address: with one probe each, an agent would scan a network.</summary>
    [Fact]
    public async Task Questions_about_nodes_that_the_agent_does_not_know_cause_no_probe()
    {
        var probes = new Silent();
        var options = new AgentOptions { Self = new NodeEndpoint("test", 1000) };
        var agent = new ClusterAgent(options, probes, probes, TimeProvider.System, new SeededEntropy(1));
        var answers = new Answers();
        for (var i = 0; i < Questions; i++)
        {
            var suspect = new NodeAddress(new NodeId(new Guid(i, 1, 1, new byte[8])), new NodeEndpoint("other", 1 + i));
            agent.Handle(new SuspicionRequest(Epoch.First, NodeRole.Unit, suspect), answers.Next());
        }

        await answers.WaitForAsync(Questions);
        Assert.Equal(0, probes.Calls);
        Assert.Equal(Questions, answers.Count);
    }

    [Fact]
    public void Probes_at_once_are_limited()
    {
        var budget = new ProbeBudget(new AgentClock(new ManualTime()));
        for (var i = 0; i < ProbeBudget.MaxAtOnce; i++) Assert.True(budget.TryBegin());
        Assert.False(budget.TryBegin());
        budget.End();
        Assert.True(budget.TryBegin());
        Assert.False(budget.TryBegin());
    }

    [Fact]
    public void Probes_are_limited_for_each_second()
    {
        var time = new ManualTime();
        var budget = new ProbeBudget(new AgentClock(time));
        for (var i = 0; i < ProbeBudget.MaxPerSecond; i++)
        {
            Assert.True(budget.TryBegin());
            budget.End();
        }

        Assert.False(budget.TryBegin());
        time.Advance(TimeSpan.FromSeconds(1));
        Assert.True(budget.TryBegin());
    }

    /// <summary>Nothing answers.</summary>
    private sealed class Silent : ITransport
    {
        private int _calls;

        public int Calls => Volatile.Read(ref _calls);

        public ValueTask<TResponse> CallAsync<TResponse>(NodeAddress to, Request<TResponse> request,
            CancellationToken cancellationToken)
            where TResponse : Response
        {
            Interlocked.Increment(ref _calls);
            throw new TransportException("silent", outcomeUnknown: false);
        }

        public void Drop(NodeAddress node)
        {
        }

        public ValueTask<NodeDescription> DescribeAsync(NodeEndpoint endpoint, CancellationToken cancellationToken) =>
            throw new TransportException("silent", outcomeUnknown: false);
    }

    private sealed class Answers : IReplySink
    {
        private readonly SemaphoreSlim _answered = new(0);
        private uint _asked;
        private int _count;

        public int Count => Volatile.Read(ref _count);

        public ReplyTo Next() => new(this, ++_asked, Opcode.Suspicion);

        public void Send(uint correlation, Opcode opcode, Response response)
        {
            Interlocked.Increment(ref _count);
            _answered.Release();
        }

        public async Task WaitForAsync(int count)
        {
            for (var i = 0; i < count; i++) await _answered.WaitAsync(TestContext.Current.CancellationToken);
        }
    }
}
