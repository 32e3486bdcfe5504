namespace Tango.ZooKeeper;

/// <summary>An update of the tree, decided where it stands in the log.</summary>
public abstract record TreeRecord
{
    private protected TreeRecord()
    {
    }

    /// <summary>Number of the mutator: part of the format, never reused.</summary>
    public abstract int Number { get; }

    /// <summary>Null: no client's request.</summary>
    internal virtual RequestHeader? Caller => null;

    /// <summary>Level that the tree has from this record on; null: as before.</summary>
    internal virtual int? NewLevel => null;

    /// <summary>Parts of the tree that the record may change (Z15); none: all of it.</summary>
    internal virtual ObjectKey Keys => ObjectKey.None;

    /// <summary>Concerns all partitions: sessions, front ends, settings (Z13).</summary>
    internal virtual bool IsShared => false;

    internal abstract void Write(ref MessagePackWriter writer);

    /// <summary>The result on this state. Where it is an error, the changes of the tree are dropped.</summary>
    internal abstract TreeResult Decide(WorkingTree tree);
}
