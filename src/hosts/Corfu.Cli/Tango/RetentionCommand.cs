using System.Globalization;
using System.Text.Json;
using Tango;

namespace Corfu.Cli;

/// <summary><c>corfu tango retain</c>: what is kept though no object needs it.</summary>
internal static class RetentionCommand
{
    private const string Description =
        """
        Say how much history is kept though nothing needs it: at least so many positions below the tail, and entries
        younger than a time. 'log trim --unneeded' obeys it. Without options it prints what is kept.
        """;

    public static Command Create()
    {
        var positions = new Option<long?>("--positions") { Description = "So many below the tail.", HelpName = "N" };
        positions.Validators.Add(result =>
        {
            var isNumber = long.TryParse(result.Tokens.SingleOrDefault()?.Value, CultureInfo.InvariantCulture,
                out var number);
            if (isNumber && number < 0) result.AddError("--positions must not be negative.");
        });
        var time = new Option<TimeSpan?>("--time")
        {
            Description = "Entries younger than this, as in 90m, 12h or 30d.",
            HelpName = "TIME",
            CustomParser = result =>
            {
                if (TryParse(result.Tokens[0].Value, out var parsed)) return parsed;
                result.AddError($"'{result.Tokens[0].Value}' is no time: a number with s, m, h or d, as in 12h.");
                return null;
            },
        };
        var nothing = new Option<bool>("--nothing") { Description = "Keep only what is needed." };
        var json = CommonOptions.JsonOption();
        var command = TangoCommand.WithRuntime("retain", Description, [positions, time, nothing, json],
            async (_, runtime, result, cancellationToken) =>
            {
                var (count, span) = (result.GetValue(positions), result.GetValue(time));
                if (count is not null || span is not null || result.GetValue(nothing))
                    await runtime.Log.RetainAsync(count, span, cancellationToken);
                var point = await runtime.Log.ReadTrimPointAsync(cancellationToken);
                await result.InvocationConfiguration.Output.WriteLineAsync(result.GetValue(json)
                    ? JsonSerializer.Serialize(
                        new RetentionJson(point.KeepPositions, point.KeepTime?.TotalSeconds),
                        CliJson.Lines.RetentionJson)
                    : Text(point));
                return ExitCode.Ok;
            });
        command.Validators.Add(result =>
        {
            if (result.GetValue(nothing)
                && (result.GetResult(positions) is not null || result.GetResult(time) is not null))
                result.AddError("--nothing goes with neither --positions nor --time.");
        });
        return command;
    }

    private static string Text(TangoTrimPoint point)
    {
        List<string> kept = [];
        if (point.KeepPositions is { } positions) kept.Add($"{positions} positions below the tail");
        if (point.KeepTime is { } time)
            kept.Add($"entries younger than {time.ToString("c", CultureInfo.InvariantCulture)}");
        return kept.Count == 0 ? "only what is needed" : string.Join(", ", kept);
    }

    private static bool TryParse(string text, out TimeSpan time)
    {
        time = default;
        if (text.Length < 2 || !long.TryParse(text[..^1], NumberStyles.None, CultureInfo.InvariantCulture, out var n))
            return false;
        var seconds = text[^1] switch { 's' => 1L, 'm' => 60, 'h' => 3600, 'd' => 86_400, _ => 0 };
        if (seconds == 0 || n > RuntimeLog.LongestDuration.TotalSeconds / seconds) return false;
        time = TimeSpan.FromSeconds(n * seconds);
        return true;
    }
}

/// <summary>History that is kept although no claim needs it.</summary>
internal sealed record RetentionJson(long? Positions, double? Seconds);
