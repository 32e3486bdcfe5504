using System.Globalization;
using Corfu;
using NamespaceSample.Model;
using NamespaceSample.Service;
using Tango;

namespace NamespaceSample.Watch;

/// <summary>A change of a path.</summary>
/// <param name="Entry">Entry of the path from now on; null: none.</param>
/// <param name="Id">Place from which to go on: pass it to <see cref="NamespaceWatch"/>.</param>
public sealed record NamespaceEvent(string Path, Entry? Entry, WatchPlace Id);

/// <summary>How far a watch has read, in each partition.</summary>
public sealed record WatchPlace(ChangePlace?[] Places)
{
    private const char BetweenPartitions = '_';
    private const char BetweenNumbers = '.';

    public static WatchPlace Now { get; } = new(new ChangePlace?[PartitionMap.Count]);

    public WatchPlace With(int partition, ChangePlace place)
    {
        ChangePlace?[] places = [.. Places];
        places[partition] = place;
        return new WatchPlace(places);
    }

    /// <summary>With this position where nothing is said.</summary>
    public WatchPlace From(LogPosition position) =>
        new([.. Places.Select(place => place ?? ChangePlace.Before(position))]);

    /// <summary>False if the text is none of <see cref="ToString"/>.</summary>
    public static bool TryParse(string text, out WatchPlace place)
    {
        place = Now;
        string[] parts = text.Split(BetweenPartitions);
        if (parts.Length != PartitionMap.Count) return false;
        for (int i = 0; i < parts.Length; i++)
        {
            if (parts[i].Length == 0) continue;
            if (parts[i].Split(BetweenNumbers) is not [var position, var index]
                || !long.TryParse(position, CultureInfo.InvariantCulture, out long offset) || offset < 0
                || !int.TryParse(index, CultureInfo.InvariantCulture, out int call))
                return false;
            place = place.With(i, new ChangePlace(new LogPosition(offset), call));
        }

        return true;
    }

    public override string ToString() => string.Join(BetweenPartitions, Places.Select(static place => place is { } known
        ? string.Create(CultureInfo.InvariantCulture, $"{known.Position.Offset}{BetweenNumbers}{known.Index}")
        : ""));
}
