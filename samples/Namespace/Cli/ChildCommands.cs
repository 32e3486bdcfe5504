using System.CommandLine;
using NamespaceSample.Processes;
using NamespaceSample.Service;

namespace NamespaceSample.Cli;

/// <summary>The modes that other commands start this program in.</summary>
internal static class ChildCommands
{
    public static Command Host()
    {
        Option<string> connect = NamespaceCommand.ConnectOption(required: true);
        var partition = new Option<int>("--partition") { Required = true };
        Command command = Hidden(HostMode.Name, connect, partition);
        command.SetAction((parse, stop) => HostMode.RunAsync(
            Math.Clamp(parse.GetValue(partition), 0, PartitionMap.Count - 1), parse.GetRequiredValue(connect), stop));
        return command;
    }

    public static Command Replayer()
    {
        Option<string> connect = NamespaceCommand.ConnectOption(required: true);
        Option<string> history = ReplayCommand.HistoryOption();
        Command command = Hidden(ReplayerMode.Name, connect, history);
        command.SetAction((parse, stop) => ReplayerMode.RunAsync(
            parse.GetRequiredValue(history), parse.GetRequiredValue(connect), stop));
        return command;
    }

    public static Command Verifier()
    {
        Option<string> connect = NamespaceCommand.ConnectOption(required: true);
        Option<string> history = ReplayCommand.HistoryOption();
        Option<string?> expect = ReplayCommand.ExpectOption();
        Command command = Hidden(VerifierMode.Name, connect, history, expect);
        command.SetAction((parse, stop) => VerifierMode.RunAsync(
            parse.GetRequiredValue(history), parse.GetValue(expect), parse.GetRequiredValue(connect), stop));
        return command;
    }

    private static Command Hidden(string name, params ReadOnlySpan<Symbol> parts)
    {
        var command = new Command(name, "Started by the other commands.") { Hidden = true };
        foreach (Symbol part in parts)
        {
            if (part is Option option) command.Options.Add(option);
            else command.Arguments.Add((Argument)part);
        }

        return command;
    }
}
