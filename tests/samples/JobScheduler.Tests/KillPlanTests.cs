using JobScheduler.Silos;

namespace JobScheduler.Tests;

public sealed class KillPlanTests
{
    [Theory]
    [InlineData(18_239, 5)]
    [InlineData(100, 7)]
    [InlineData(3, 5)]
    [InlineData(1, 1)]
    public void All_kills_happen_before_all_jobs_are_started(int jobs, int kills)
    {
        var plan = new KillPlan(jobs, kills);
        for (int started = 0; started < jobs;)
        {
            while (plan.IsDue(started)) plan.Killed();
            Assert.True(started < plan.StartLimit, $"{started} of {jobs} started, {plan.Done} of {kills} killed");
            started++;
        }

        Assert.Equal(kills, plan.Done);
        Assert.False(plan.IsDue(jobs));
    }

    [Fact]
    public void Starts_wait_for_a_kill_that_is_late()
    {
        var plan = new KillPlan(1_000, 1);
        Assert.Equal((750, false, true), (plan.StartLimit, plan.IsDue(499), plan.IsDue(500)));
        plan.Killed();
        Assert.Equal((int.MaxValue, false), (plan.StartLimit, plan.IsDue(1_000)));
    }
}
