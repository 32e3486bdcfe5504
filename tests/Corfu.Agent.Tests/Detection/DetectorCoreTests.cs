using Corfu.Protocol;

namespace Corfu.Agent.Tests.Detection;

public sealed class DetectorCoreTests
{
    private static readonly NodeId Unit = new(new Guid(1, 0, 0, new byte[8]));
    private static readonly NodeId Other = new(new Guid(2, 0, 0, new byte[8]));
    private static readonly NodeId Third = new(new Guid(3, 0, 0, new byte[8]));

    private readonly DetectorOptions _options = new();
    private readonly DetectorCore _core;
    private TimeSpan _now;

    public DetectorCoreTests()
    {
        _core = new DetectorCore(_options);
        foreach (var id in (NodeId[])[Unit, Other, Third]) _core.Watch(id, NodeRole.Unit, _now);
    }

    [Fact]
    public void A_node_that_answers_is_alive()
    {
        Assert.Equal(NodeHealth.Unknown, Health());
        Run(20, ProbeOutcome.Answered);
        Assert.Equal(NodeHealth.Alive, Health());
        Assert.True(_core.Judge(Unit, _now).Phi < 1);
    }

    [Fact]
    public void A_refused_connection_is_death_after_a_few_of_them_well_below_half_a_second()
    {
        Run(20, ProbeOutcome.Answered);
        var killed = _now;
        Run(2, ProbeOutcome.Refused);
        Assert.Equal(NodeHealth.Alive, Health());
        while (Health() != NodeHealth.Dead) Run(1, ProbeOutcome.Refused);
        Assert.InRange((_now - killed).TotalMilliseconds, 200, 450);
    }

    [Fact]
    public void A_process_that_is_restarted_at_once_is_not_dead()
    {
        Run(20, ProbeOutcome.Answered);
        Run(2, ProbeOutcome.Refused);
        Run(1, ProbeOutcome.Answered);
        Run(2, ProbeOutcome.Refused);
        Assert.Equal(NodeHealth.Alive, Health());
    }

    [Fact]
    public void Another_identity_in_its_place_is_certain_at_once()
    {
        Run(5, ProbeOutcome.Answered);
        Run(1, ProbeOutcome.Replaced);
        Assert.Equal(NodeHealth.Replaced, Health());
        Assert.True(_core.Judge(Unit, _now).IsCertain);
    }

    [Fact]
    public void Silence_raises_suspicion_steadily_and_counts_only_after_a_while()
    {
        Run(50, ProbeOutcome.Answered);
        var last = 0.0;
        var silent = _now;
        while (Health() != NodeHealth.Silent)
        {
            Run(1, ProbeOutcome.Nothing);
            var phi = _core.Judge(Unit, _now).Phi;
            Assert.True(phi >= last);
            last = phi;
        }

        Assert.InRange((_now - silent).TotalSeconds, 1.9, 3);
        Run(1, ProbeOutcome.Answered);
        Assert.Equal(NodeHealth.Alive, Health());
    }

    [Fact]
    public void A_node_with_irregular_answers_is_given_more_time()
    {
        for (var i = 0; i < 60; i++) Run(1, i % 12 == 11 ? ProbeOutcome.Answered : ProbeOutcome.Nothing);
        Run(21, ProbeOutcome.Nothing);
        var irregular = _core.Judge(Unit, _now).Phi;
        _core.Forget(Unit);
        _core.Watch(Unit, NodeRole.Unit, _now);
        Run(60, ProbeOutcome.Answered);
        Run(21, ProbeOutcome.Nothing);
        Assert.True(irregular < _core.Judge(Unit, _now).Phi);
    }

    [Fact]
    public void A_disk_failure_is_what_the_node_says_twice()
    {
        Run(5, ProbeOutcome.Answered);
        Run(1, ProbeOutcome.Failed);
        Assert.Equal(NodeHealth.Alive, Health());
        Run(1, ProbeOutcome.Failed);
        Assert.Equal(NodeHealth.Failed, Health());
        Run(1, ProbeOutcome.Full);
        Assert.Equal(NodeHealth.Full, Health());
    }

    [Fact]
    public void A_node_that_is_far_slower_than_its_like_is_slow_and_stays_so_until_it_is_clearly_better()
    {
        Run(10, ProbeOutcome.Answered);
        Run(90, ProbeOutcome.Answered, roundTrip: 250);
        Assert.Equal(NodeHealth.Alive, Health());
        Run(60, ProbeOutcome.Answered, roundTrip: 250);
        Assert.Equal(NodeHealth.Slow, Health());
        Run(40, ProbeOutcome.Answered, roundTrip: 150);
        Assert.Equal(NodeHealth.Slow, Health());
        Run(60, ProbeOutcome.Answered);
        Assert.Equal(NodeHealth.Alive, Health());
    }

    [Fact]
    public void Where_all_are_slow_nobody_is()
    {
        Run(10, ProbeOutcome.Answered);
        for (var i = 0; i < 300; i++) Step(ProbeOutcome.Answered, 250, 250);
        Assert.Equal(NodeHealth.Alive, Health());
    }

    [Fact]
    public void An_agent_that_stood_still_blames_nobody()
    {
        Run(20, ProbeOutcome.Answered);
        _now += TimeSpan.FromSeconds(30);
        _core.Tick(_now);
        Assert.Equal(NodeHealth.Alive, Health());
        Run(1, ProbeOutcome.Nothing);
        Assert.Equal(NodeHealth.Alive, Health());
    }

    [Fact]
    public void A_node_that_never_answered_may_be_starting()
    {
        Run(100, ProbeOutcome.Refused);
        Assert.Equal(NodeHealth.Unknown, Health());
        Run(600, ProbeOutcome.Refused);
        Assert.Equal(NodeHealth.Dead, Health());
    }

    [Fact]
    public void A_node_that_said_good_bye_is_not_missed_for_a_while()
    {
        Run(20, ProbeOutcome.Answered);
        _core.RecordLeaving(Unit, _now);
        Run(100, ProbeOutcome.Refused);
        Assert.Equal(NodeHealth.Leaving, Health());
        Run(250, ProbeOutcome.Refused);
        Assert.Equal(NodeHealth.Dead, Health());
    }

    private NodeHealth Health() => _core.Judge(Unit, _now).Health;

    private void Run(int steps, ProbeOutcome outcome, double roundTrip = 1)
    {
        for (var i = 0; i < steps; i++) Step(outcome, roundTrip, 1);
    }

    private void Step(ProbeOutcome outcome, double roundTrip, double others)
    {
        _now += _options.Interval;
        _core.Tick(_now);
        _core.Record(Unit, new ProbeSample(outcome, TimeSpan.FromMilliseconds(roundTrip)), _now);
        foreach (var id in (NodeId[])[Other, Third])
            _core.Record(id, new ProbeSample(ProbeOutcome.Answered, TimeSpan.FromMilliseconds(others)), _now);
    }
}
