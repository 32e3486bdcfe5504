using Corfu.Protocol;

namespace Corfu.Detection.Tests;

public sealed class SecondObserverTests
{
    private static NodeVerdict Mine(NodeHealth health) => new(health, TimeSpan.FromSeconds(3), 9, Note: "");

    private static SuspicionResponse Says(NodeHealth health, bool answers = false) =>
        new(Status.Ok, Epoch.First, answers, health, "");

    [Fact]
    public void Suspicion_needs_one_agent_that_agrees_and_silence_never_outvotes_one_that_reaches_the_node()
    {
        Assert.True(SecondObserver.Agrees(Mine(NodeHealth.Silent), [Says(NodeHealth.Dead)], 3));
        Assert.False(SecondObserver.Agrees(Mine(NodeHealth.Silent), [], 3));
        Assert.False(SecondObserver.Agrees(Mine(NodeHealth.Silent), [Says(NodeHealth.Alive, answers: true)], 1));
        Assert.False(SecondObserver.Agrees(Mine(NodeHealth.Silent),
            [Says(NodeHealth.Silent), Says(NodeHealth.Alive, true), Says(NodeHealth.Alive, true)], 3));
    }

    [Fact]
    public void Lone_agent_acts_only_on_reports_of_the_node_or_the_machine()
    {
        Assert.True(SecondObserver.Agrees(Mine(NodeHealth.Dead), [], 0));
        Assert.True(SecondObserver.Agrees(Mine(NodeHealth.Failed), [], 0));
        Assert.False(SecondObserver.Agrees(Mine(NodeHealth.Silent), [], 0));
    }

    [Fact]
    public void Slow_and_full_must_be_seen_as_such()
    {
        Assert.False(SecondObserver.Agrees(Mine(NodeHealth.Slow), [Says(NodeHealth.Alive, true)], 1));
        Assert.True(SecondObserver.Agrees(Mine(NodeHealth.Slow), [Says(NodeHealth.Slow, true)], 1));
        Assert.True(SecondObserver.Agrees(Mine(NodeHealth.Full), [Says(NodeHealth.Full, true)], 1));
    }

    [Fact]
    public void A_failed_disk_that_another_sees_answer_is_no_contradiction() =>
        Assert.True(SecondObserver.Agrees(Mine(NodeHealth.Failed), [Says(NodeHealth.Failed, answers: true)], 1));

    [Fact]
    public void A_node_that_another_reaches_is_partitioned_from_us()
    {
        Assert.True(SecondObserver.IsPartition(Mine(NodeHealth.Silent), [Says(NodeHealth.Alive, answers: true)]));
        Assert.False(SecondObserver.IsPartition(Mine(NodeHealth.Silent), [Says(NodeHealth.Silent)]));
    }

    [Fact]
    public void Answers_that_could_not_change_the_outcome_are_not_waited_for()
    {
        Assert.True(SecondObserver.AgreesWhateverElse(Mine(NodeHealth.Dead), [Says(NodeHealth.Dead)], pending: 1));
        Assert.False(SecondObserver.AgreesWhateverElse(Mine(NodeHealth.Dead), [Says(NodeHealth.Dead)], pending: 2));
        Assert.False(SecondObserver.AgreesWhateverElse(Mine(NodeHealth.Dead), [], pending: 0));
    }
}
