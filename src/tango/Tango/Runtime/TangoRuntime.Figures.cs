using System.Collections.Immutable;

namespace Tango;

public sealed partial class TangoRuntime
{
    /// <summary>Figures of the objects that are hosted now, for monitoring. Costs no request.</summary>
    public ImmutableArray<ObjectFigures> ReadFigures()
    {
        var published = Player.Published;
        var figures = ImmutableArray.CreateBuilder<ObjectFigures>();
        foreach (var cohort in _openings.ListOpen())
        {
            foreach (var hosted in cohort.Objects)
            {
                // A deleted object leaves soon, and is no failure.
                if (hosted.Stopped is { IsDeletion: true }) continue;
                figures.Add(new ObjectFigures(
                    hosted.Name, hosted.Entry.TypeName, hosted.Updates, cohort.Traffic.CheckpointSize,
                    published.Of(hosted).Stopped is not null));
            }
        }

        return figures.DrainToImmutable();
    }
}
