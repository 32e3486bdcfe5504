namespace Salus.Store;

/// <summary>The store's port to the generations that are recorded for its regions.</summary>
public interface IGenerations
{
    /// <summary>Whether the region's generation is recorded, admitted or not. A store seals for no other one: a wrong
    /// number would end a healthy region. Any thread; quick.</summary>
    bool IsRecorded(RegionKey region, Epoch generation);
}
