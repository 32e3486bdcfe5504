using Corfu.WebConsole.Collecting;
using Corfu.WebConsole.Reading;

namespace Corfu.WebConsole.Views;

/// <summary>Why an epoch is there, and who made it.</summary>
public static class EpochWords
{
    public static string WhyOf(ClusterPicture picture, EpochStory story)
    {
        var why = Named(picture, story.Why);
        return why.Length == 0 ? "No reason was given" : char.ToUpperInvariant(why[0]) + why[1..];
    }

    /// <summary>Null: the reason names no proposer.</summary>
    public static string? WhoOf(ClusterPicture picture, EpochStory story) => story switch
    {
        { By: null } => null,
        { IsAutomatic: true } => $"by the agent of {Named(picture, story.By)}",
        _ => $"by an operator, {story.By}",
    };

    /// <summary>Names are easier to follow than addresses; those of processes that are gone stay addresses.</summary>
    public static string Named(ClusterPicture picture, string text)
    {
        foreach (var process in picture.Processes)
        {
            if (picture.NameOf(process.Endpoint) is { } name)
                text = text.Replace(process.Endpoint.ToString(), name, StringComparison.Ordinal);
        }

        return text;
    }
}
