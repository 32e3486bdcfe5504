using System.CommandLine;

namespace Corfu.Load;

/// <summary><c>echo</c>, <c>sequencer</c> and <c>disk</c>: what is measured without a cluster.</summary>
internal static class BaselineCommands
{
    public static Command Echo()
    {
        var options = new LoadOptions();
        var command = new Command("echo",
            "Round trips of the bare transport: one server process that answers at once.");
        options.AddCommon(command);
        command.SetAction(async (result, _) =>
        {
            using var folder = new WorkFolder(result.GetValue(options.Directory));
            var campaign = new Campaign(options.Parameters(result, "bare echo"), result.GetValue(options.Rounds),
                folder.Path);
            return await ReportOutput.WriteAsync(result, options,
                await campaign.RunAsync("echo", null, "", disk: false, fio: false));
        });
        return command;
    }

    public static Command Sequencer()
    {
        var options = new LoadOptions();
        var command = new Command("sequencer",
            "Single tokens from a sequencer alone in its process, beside the bare echo.");
        options.AddCommon(command);
        command.SetAction(async (result, _) =>
        {
            using var folder = new WorkFolder(result.GetValue(options.Directory));
            using var sequencer = BareRoleProcess.Start(BareRoleCommand.Sequencer);
            var campaign = new Campaign(options.Parameters(result, "bare sequencer"), result.GetValue(options.Rounds),
                folder.Path);
            var report = await campaign.RunAsync("sequencer", WorkloadKind.Token, await sequencer.AddressAsync(),
                disk: false, fio: false);
            return await ReportOutput.WriteAsync(result, options, report);
        });
        return command;
    }

    public static Command Disk()
    {
        var options = new LoadOptions();
        var command = new Command("disk",
            "One caller's write and fdatasync, as bare as it gets; with --fio also as fio sees it.");
        foreach (var option in new Option[] { options.Size, options.Rounds, options.Seconds, options.Directory,
            options.Fio, options.Output }) command.Add(option);
        command.SetAction(async (result, _) =>
        {
            using var folder = new WorkFolder(result.GetValue(options.Directory));
            var duration = TimeSpan.FromSeconds(result.GetValue(options.Seconds));
            var size = result.GetValue(options.Size);
            var rounds = Enumerable.Range(0, result.GetValue(options.Rounds))
                .Select(_ => BareDisk.Run(folder.Path, size, duration)).ToList();
            var fio = result.GetValue(options.Fio) ? await Fio.RunAsync(folder.Path, size, duration) : null;
            if (fio is null && result.GetValue(options.Fio))
                await Console.Error.WriteLineAsync("fio is not installed: no comparison.");
            var parameters = new RunParameters(1, 1, size, duration.TotalSeconds, folder.Path);
            var report = new RunReport("disk", RunInfo.Current, parameters, RoundResult.Median(rounds), rounds, null,
                null, fio, null, null);
            return await ReportOutput.WriteAsync(result, options, report);
        });
        return command;
    }
}
