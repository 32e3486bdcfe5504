using Corfu.Protocol;

namespace Corfu.Detection.Tests;

public sealed class DetectorCoreTests
{
    private static readonly NodeId Unit = new(new Guid(1, 0, 0, new byte[8]));
    private static readonly NodeId Other = new(new Guid(2, 0, 0, new byte[8]));
    private static readonly NodeId Third = new(new Guid(3, 0, 0, new byte[8]));

    private static readonly NodeId UnitAgent = new(new Guid(11, 0, 0, new byte[8]));
    private static readonly NodeId OtherAgent = new(new Guid(12, 0, 0, new byte[8]));

    private readonly DetectorOptions _options = new();
    private readonly DetectorCore _core;
    private TimeSpan _now;

    public DetectorCoreTests()
    {
        _core = new DetectorCore(_options);
        foreach (var id in (NodeId[])[Unit, Other, Third]) _core.Watch(AddressOf(id), NodeRole.Unit, _now);
        foreach (var id in (NodeId[])[UnitAgent, OtherAgent]) _core.Watch(AddressOf(id), NodeRole.Agent, _now);
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
    public void Node_is_dead_after_a_few_refused_connections_well_below_half_a_second()
    {
        Run(20, ProbeOutcome.Answered);
        var killed = _now;
        Tick();
        while (true)
        {
            _core.Record(Unit, new ProbeSample(ProbeOutcome.Refused, default), _now);
            if (Health() == NodeHealth.Dead) break;
            Assert.Equal(NodeHealth.Alive, Health());
            // An agent's step unless its options say otherwise.
            _now += TimeSpan.FromMilliseconds(50);
        }

        Assert.InRange((_now - killed).TotalMilliseconds, 300, 400);
    }

    [Fact]
    public void Process_without_a_place_for_the_agent_is_overloaded_and_neither_dead_nor_silent()
    {
        Run(20, ProbeOutcome.Answered);
        Run(400, ProbeOutcome.Overloaded);
        Assert.Equal(NodeHealth.Overloaded, Health());
        Assert.False(_core.Judge(Unit, _now).IsGone);
        Run(1, ProbeOutcome.Answered);
        Assert.Equal(NodeHealth.Alive, Health());
    }

    [Fact]
    public void Overloaded_process_that_dies_or_stops_is_found_all_the_same()
    {
        Run(20, ProbeOutcome.Answered);
        Run(20, ProbeOutcome.Overloaded);
        Run(3, ProbeOutcome.Refused);
        Assert.Equal(NodeHealth.Dead, Health());
        Run(1, ProbeOutcome.Overloaded);
        Assert.Equal(NodeHealth.Overloaded, Health());
        Run(40, ProbeOutcome.Nothing);
        Assert.Equal(NodeHealth.Silent, Health());
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
    public void Node_with_another_identity_in_place_is_replaced_at_once()
    {
        Run(5, ProbeOutcome.Answered);
        Run(1, ProbeOutcome.Replaced);
        Assert.Equal(NodeHealth.Replaced, Health());
        Assert.True(_core.Judge(Unit, _now).IsCertain);
    }

    [Fact]
    public void Role_that_is_silent_while_the_process_answers_is_stuck_after_the_time_out()
    {
        Run(20, ProbeOutcome.Answered);
        var silent = _now;
        while (Health() != NodeHealth.Silent)
        {
            Run(1, ProbeOutcome.Nothing);
            _core.Record(UnitAgent, Answer, _now);
        }

        Assert.InRange(_now - silent, _options.SilentAfter, _options.SilentAfter + (2 * _options.Interval));
        Run(1, ProbeOutcome.Answered);
        Assert.Equal(NodeHealth.Alive, Health());
    }

    [Fact]
    public void A_process_that_is_silent_as_a_whole_is_suspected_more_and_more_and_gone_after_the_time_out()
    {
        Run(20, ProbeOutcome.Answered);
        var last = 0.0;
        var silent = _now;
        while (Health() != NodeHealth.Silent)
        {
            Run(1, ProbeOutcome.Nothing);
            var phi = _core.Judge(Unit, _now).Phi;
            Assert.True(phi >= last);
            last = phi;
        }

        Assert.InRange(_now - silent, _options.SilentAfter, _options.SilentAfter + (2 * _options.Interval));
    }

    [Fact]
    public void Silence_counts_after_twice_the_time_out_while_most_processes_are_late()
    {
        Run(20, ProbeOutcome.Answered);
        Assert.InRange(SilentAfter(answersOf: []), 2 * _options.SilentAfter,
            (2 * _options.SilentAfter) + (2 * _options.Interval));
    }

    [Fact]
    public void Late_process_does_not_hide_a_frozen_one()
    {
        Run(20, ProbeOutcome.Answered);
        Assert.InRange(SilentAfter(answersOf: [Third]), _options.SilentAfter,
            _options.SilentAfter + (2 * _options.Interval));
    }

    [Fact]
    public void A_process_with_irregular_answers_is_given_more_time()
    {
        for (var i = 0; i < 60; i++) Run(1, i % 12 == 11 ? ProbeOutcome.Answered : ProbeOutcome.Nothing);
        Run(21, ProbeOutcome.Nothing);
        var irregular = _core.Judge(Unit, _now).Phi;
        foreach (var id in (NodeId[])[Unit, UnitAgent]) _core.Forget(id);
        _core.Watch(AddressOf(Unit), NodeRole.Unit, _now);
        Run(60, ProbeOutcome.Answered);
        Run(21, ProbeOutcome.Nothing);
        Assert.True(irregular < _core.Judge(Unit, _now).Phi);
    }

    [Fact]
    public void Node_that_answered_before_the_watch_is_not_starting()
    {
        _core.Forget(Unit);
        _core.Watch(AddressOf(Unit), NodeRole.Unit, _now, hasAnswered: true);
        Run(3, ProbeOutcome.Refused);
        Assert.Equal(NodeHealth.Dead, Health());
    }

    [Fact]
    public void Disk_failure_counts_when_the_node_reports_two_in_a_row()
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
    public void Node_far_slower_than_the_median_stays_slow_until_clearly_better()
    {
        Run(10, ProbeOutcome.Answered);
        Run(45, ProbeOutcome.Answered, roundTrip: 250);
        Assert.Equal(NodeHealth.Alive, Health());
        Run(60, ProbeOutcome.Answered, roundTrip: 250);
        Assert.Equal(NodeHealth.Slow, Health());
        Run(40, ProbeOutcome.Answered, roundTrip: 150);
        Assert.Equal(NodeHealth.Slow, Health());
        Run(60, ProbeOutcome.Answered);
        Assert.Equal(NodeHealth.Alive, Health());
    }

    [Fact]
    public void Node_is_not_slow_when_all_are()
    {
        Run(10, ProbeOutcome.Answered);
        for (var i = 0; i < 300; i++) Step(ProbeOutcome.Answered, 250, 250);
        Assert.Equal(NodeHealth.Alive, Health());
    }

    [Fact]
    public void Agent_that_stood_still_holds_no_node_gone()
    {
        Run(20, ProbeOutcome.Answered);
        _now += TimeSpan.FromSeconds(30);
        _core.Tick(_now);
        Assert.Equal(NodeHealth.Alive, Health());
        Run(1, ProbeOutcome.Nothing);
        Assert.Equal(NodeHealth.Alive, Health());
    }

    [Fact]
    public void Verdict_between_a_stall_and_the_next_tick_holds_no_node_gone()
    {
        Run(20, ProbeOutcome.Answered);
        _now += TimeSpan.FromSeconds(30);
        Assert.Equal(NodeHealth.Alive, Health());
        _core.Record(Other, Nothing, _now);
        Assert.Equal(NodeHealth.Alive, Health());
    }

    [Fact]
    public void An_answer_recorded_between_a_stall_and_the_next_tick_delays_no_later_suspicion()
    {
        Run(20, ProbeOutcome.Answered);
        _now += TimeSpan.FromMinutes(10);
        _core.Record(Unit, Answer, _now);
        Run(5, ProbeOutcome.Answered);
        Assert.InRange(SilentAfter(answersOf: [Other, Third]), _options.SilentAfter,
            _options.SilentAfter + (2 * _options.Interval));
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

    [Fact]
    public void R7_a_sequencer_that_said_good_bye_is_missed_at_once()
    {
        _core.Forget(Unit);
        _core.Watch(AddressOf(Unit), NodeRole.Sequencer, _now, mayReturn: false);
        Run(20, ProbeOutcome.Answered);
        _core.RecordLeaving(Unit, _now);
        Run(10, ProbeOutcome.Refused);
        Assert.Equal(NodeHealth.Dead, Health());
    }

    private static readonly ProbeSample Answer = new(ProbeOutcome.Answered, TimeSpan.FromMilliseconds(1));
    private static readonly ProbeSample Nothing = new(ProbeOutcome.Nothing, TimeSpan.FromMilliseconds(500));

    // An agent is in its unit's process.
    private static NodeAddress AddressOf(NodeId id) =>
        new(id,
            new NodeEndpoint("127.0.0.1", id == UnitAgent || id == Unit ? 1 : id == OtherAgent || id == Other ? 2 : 3));

    // How long until the unit is held silent while only these others answer.
    private TimeSpan SilentAfter(NodeId[] answersOf)
    {
        var silent = _now;
        while (Health() != NodeHealth.Silent)
        {
            Tick();
            foreach (var id in (NodeId[])[Unit, Other, Third])
                _core.Record(id, answersOf.Contains(id) ? Answer : Nothing, _now);
        }

        return _now - silent;
    }

    private void Tick()
    {
        _now += _options.Interval;
        _core.Tick(_now);
    }

    private NodeHealth Health() => _core.Judge(Unit, _now).Health;

    private void Run(int steps, ProbeOutcome outcome, double roundTrip = 1)
    {
        for (var i = 0; i < steps; i++) Step(outcome, roundTrip, 1);
    }

    private void Step(ProbeOutcome outcome, double roundTrip, double others)
    {
        Tick();
        _core.Record(Unit, new ProbeSample(outcome, TimeSpan.FromMilliseconds(roundTrip)), _now);
        foreach (var id in (NodeId[])[Other, Third])
            _core.Record(id, new ProbeSample(ProbeOutcome.Answered, TimeSpan.FromMilliseconds(others)), _now);
    }
}
