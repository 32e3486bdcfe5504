using Corfu.FaultRuns.Services.Clients;

namespace Corfu.FaultRuns.Services.Judging;

/// <summary>Compares what users of the machine were told with its last state.</summary>
internal static class MachineJudge
{
    public static void Judge(ServicesHistory history, ServicesAudit audit, ServicesVerdict verdict)
    {
        foreach (var (user, count) in audit.Users)
        {
            if (count.Twice > 0) verdict.MachineTwice($"{count.Twice} commands of {user} ran again");
            if (count.Count > history.Sent.GetValueOrDefault(user))
                verdict.MachineTwice(
                    $"{count.Count} commands of {user} ran, and {history.Sent.GetValueOrDefault(user)} were sent");
        }

        foreach (var runs in history.Runs.GroupBy(static run => run.User))
        {
            var count = audit.Users.GetValueOrDefault(runs.Key, new UserCount(0, 0, 0));
            var (told, last) = (runs.Count(), runs.Max(static run => run.Number));
            if (count.Count < told || count.Last < last)
                verdict.MachineLost($"{told} commands of {runs.Key} up to {last} were answered, and {count} ran");
        }

        foreach (var same in history.Runs.GroupBy(static run => run.Count).Where(static same => same.Count() > 1))
            verdict.Diverged($"{string.Join(" and ", same)} were both the same command in the machine's order");

        var floors = new Floors(history.Runs.Select(static run => (run.Ended, run.Count))
            .Concat(history.Queries.Select(static query => (query.Ended, query.Count))));
        foreach (var (began, _, count) in history.Queries)
        {
            if (floors.Before(began) is var floor && count < floor)
                verdict.MachineStale($"a query showed {count} commands, and began when {floor} were told");
        }

        foreach (var reason in history.Stopped) verdict.Diverged(reason);
    }
}
